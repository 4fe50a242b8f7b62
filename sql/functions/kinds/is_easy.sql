-- Purpose     Tell quickly that args fit the schema of their kind. Postgres inlines it into its callers.
-- Parameters  args: of the job; null: none · path, names: from make_easy_args; the path is true for objects only
-- Returns     true where they fit; false or null: refuse_value has to judge
-- Errors      none
-- Tables      none
create or replace function leasehold.is_easy(args jsonb, path jsonpath, names text[]) returns boolean language sql immutable parallel safe as $$
select case when coalesce(nullif(args, 'null'), '{}') @@ path then names is null or coalesce(nullif(args, 'null'), '{}') - names = '{}' end
$$;
