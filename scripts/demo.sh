#!/usr/bin/env bash
# From a fresh clone to a translated sentence: installs, trains on the built-in phrasebook,
# evaluates on sentences the model never saw, and translates three. Minutes on two CPU cores.
# Run again, it goes on where it stopped.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh
prepare_environment
mt=.venv/bin/mt

echo "== mt train --config configs/phrasebook.yaml"
"$mt" train --config configs/phrasebook.yaml
echo
echo "== mt evaluate --model phrasebook"
"$mt" evaluate --model phrasebook
echo
while IFS= read -r sentence; do
  echo "== mt translate --model phrasebook \"$sentence\""
  "$mt" translate --model phrasebook "$sentence"
done <<'SENTENCES'
The small house is near the station.
Yesterday my sister bought a red dress.
There are three books on the table.
SENTENCES
echo
echo "Now try your own:  .venv/bin/mt translate \"The old bridge is near the station.\""
echo "Watch the curves:  .venv/bin/tensorboard --logdir runs"
