"use strict";

// Everything comes from this service: no validator, no fonts, no CDN.
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#viewer",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  filter: true,
  validatorUrl: null,
  persistAuthorization: false,
});
