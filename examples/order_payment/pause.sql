-- For the example only, not for a shop: a booking waits while another session holds the advisory lock of its order.
create function shop.pause() returns trigger language plpgsql as $$
begin
    perform pg_advisory_xact_lock_shared(0, new.order_id::integer);
    return new;
end
$$;
create trigger pause before insert on shop.payments for each row execute function shop.pause();
