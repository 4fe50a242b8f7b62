#!/bin/sh
# Writes who may come in and where it leads, from POSTGRES_HOST and POSTGRES_PASSWORD, then becomes PgBouncer.
set -eu
umask 077
secret=$(printf '%s' "${POSTGRES_PASSWORD:?}" | sed 's/"/""/g')
printf '"leasehold" "%s"\n' "$secret" >/run/pgbouncer/users.txt
printf '[databases]\nleasehold = host=%s port=5432 dbname=leasehold\n' "${POSTGRES_HOST:?}" >/run/pgbouncer/databases.ini
exec pgbouncer /etc/pgbouncer/pgbouncer.ini
