-- Purpose     Take the key of a job from its args.
-- Parameters  args · place: where in them, such as args.order_id
-- Returns     text as it is, numbers and truth values as JSON writes them; null where there is nothing, null, an object or an array
-- Errors      none
-- Tables      none
create or replace function leasehold.derive_key(args jsonb, place text) returns text language sql immutable parallel safe as $$
select case when jsonb_typeof(args #> (string_to_array(place, '.'))[2:]) in ('string', 'number', 'boolean') then args #>> (string_to_array(place, '.'))[2:] end
$$;
