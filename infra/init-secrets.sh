#!/bin/sh
# Writes random passwords of the stores into .env beside docker-compose.yml, for this user alone. Those that are there stay.
set -eu
umask 077
file="$(dirname "$0")/../.env"
touch "$file"
chmod 600 "$file"
# The last line may be open.
[ -z "$(tail -c 1 "$file")" ] || echo >> "$file"
for name in REDIS_PASSWORD WEAVIATE_API_KEY WEAVIATE_CLUSTER_PASSWORD; do
  grep -q "^$name=." "$file" || printf '%s=%s\n' "$name" "$(head -c 48 /dev/urandom | base64 | tr -d '/+=\n')" >> "$file"
done
