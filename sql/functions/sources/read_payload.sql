-- Purpose     Read the bytes that another queue keeps as a job's payload. Mappings use it for args.
-- Parameters  payload: the bytes; null: none
-- Returns     a JSON object as it is; any other JSON, or else text, under the name payload; other bytes in Base64 under payload_base64
-- Errors      none
-- Tables      none
create or replace function leasehold.read_payload(payload bytea) returns jsonb language plpgsql immutable
set search_path = leasehold, pg_catalog, pg_temp as $$
declare
    v_text text;
    v_json jsonb;
begin
    v_text := convert_from(read_payload.payload, 'UTF8');
    v_json := v_text::jsonb;
    return case when v_json is null or jsonb_typeof(v_json) = 'object' then v_json else jsonb_build_object('payload', v_json) end;
exception when data_exception then
    return case when v_text is not null then jsonb_build_object('payload', v_text)
                else jsonb_build_object('payload_base64', translate(encode(read_payload.payload, 'base64'), E'\n', '')) end;
end
$$;
