#!/bin/sh
# Fuzz with new seeds, beginning with $1, for $2 minutes; stops at the first failure.
set -e
seed=$1
end=$(($(date +%s) + 60 * $2))
while [ "$(date +%s)" -lt "$end" ]; do
	echo "seed $seed"
	.venv/bin/python -m pytest tests/fuzz -q -m "not heavy" --hypothesis-profile=long --hypothesis-seed="$seed"
	seed=$((seed + 1))
done
