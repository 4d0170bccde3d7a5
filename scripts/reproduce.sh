#!/usr/bin/env bash
# Rows of the results table in README.md: trains the best recipe and the word-level reference recipe
# for the same time, scores both on the test split, and prints the rows.
#
#   scripts/reproduce.sh phrasebook                  # the built-in corpus
#   scripts/reproduce.sh NAME FOLDER [MINUTES]       # FOLDER/{train,valid,test}.jsonl, en and it
#   scripts/reproduce.sh opus_books [MINUTES]        # from the Hub
#
# SEED=2 takes another seed than 0, RECIPES="best" or "reference" one of the two, and TSV=FILE scores
# a file of en<TAB>it as well. Run again, it goes on where it stopped.
set -euo pipefail
usage() { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -ge 1 ] || usage
name=$1 seed=${SEED:-0} recipes=${RECIPES:-best reference}
refuse() { echo "reproduce.sh: $*" >&2; exit 2; }
case $name in
  phrasebook | opus_books) ;;
  *) [ -n "${2:-}" ] || usage
    [ -d "$2" ] || refuse "no folder $2"
    folder=$(cd "$2" && pwd)
    for part in train valid test; do
      [ -f "$folder/$part.jsonl" ] || refuse "no file $folder/$part.jsonl"
    done ;;
esac
[ -z "${TSV:-}" ] || [ -f "$TSV" ] || refuse "no file $TSV"
[ -z "${TSV:-}" ] || tsv=$(realpath "$TSV")
cd "$(dirname "$0")/.."
source scripts/environment.sh
prepare_environment
mt=.venv/bin/mt

settings=(--set "seed=$seed")
best=configs/recipes/small.yaml reference=configs/opus_books_en_it.yaml split=test
case $name in
  phrasebook) best=configs/phrasebook.yaml minutes=3
    settings+=(--set data.source=phrasebook --set data.subset=null --set data.valid_size=0) ;;
  opus_books) best=configs/recipes/opus_books.yaml minutes=${2:-120} split=valid
    settings+=(--set "training.minutes=$minutes") ;;
  *) minutes=${3:-30}
    for part in train valid test; do settings+=(--set "data.$part=$folder/$part.jsonl"); done
    settings+=(--set data.source=null --set data.subset=null --set data.valid_size=0
      --set data.test_size=0 --set "training.minutes=$minutes") ;;
esac

runs=()
for recipe in $recipes; do
  config=${!recipe} run=$name-$recipe-$minutes-$seed extra=()
  [ "$recipe" = best ] || extra=(--set training.bleu_samples=0 --set "training.minutes=$minutes")
  echo "== mt train --config $config (run $run)"
  "$mt" train --config "$config" "${settings[@]}" "${extra[@]}" --set "name=$run"
  echo "== mt evaluate --model $run"
  "$mt" evaluate --model "$run" --split "$split"
  if [ -n "${tsv:-}" ]; then
    other=weights/$run/evaluation/$(basename "${tsv%.tsv}")
    mkdir -p "$other"
    cut -f1 "$tsv" >"$other/given.en"
    cut -f2 "$tsv" >"$other/given.it"
    "$mt" evaluate --model "$run" --src "$other/given.en" --ref "$other/given.it" --output "$other"
  fi
  runs+=("$run=$config")
done

echo
"$mt" runs --json | "$python" -c '
import json
import sys

configs = dict(pair.split("=") for pair in sys.argv[1:])
signatures = {}
print("| run | recipe | mt train, s | test set | BLEU | chrF2 |\n|---|---|---|---|---|---|")
for run in json.load(sys.stdin):
    if run["name"] in configs:
        for test_set, found in run["tests"].items():
            signatures |= found["signatures"]
            scores = " | ".join(format(found["scores"][name], ".2f") for name in ("bleu", "chrf"))
            seconds = format(run["seconds"], ",.0f")
            recipe = configs[run["name"]]
            print("|", run["name"], "|", recipe, "|", seconds, "|", test_set, "|", scores, "|")
for name in ("bleu", "chrf"):
    print(name, signatures[name])
' "${runs[@]}"
