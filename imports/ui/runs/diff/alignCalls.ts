/** Aligns the tool calls of two runs: the same tools in the same order side by side. */

import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';

interface AlignedCall {
  readonly name: string;
  readonly arguments: string;
}

export interface CallPair<C> {
  readonly left?: C;
  readonly right?: C;
}

/** @returns the calls of both runs in their order; calls with equal arguments are paired in preference to others */
export function alignCalls<C extends AlignedCall>(left: readonly C[], right: readonly C[]): readonly CallPair<C>[] {
  // The longest common subsequence, weighted. Only runs with thousands of calls would make this table large.
  const [a, b] = [left.slice(0, MAX_ALIGNED), right.slice(0, MAX_ALIGNED)];
  const width = b.length + 1;
  const best = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => best[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      best[i * width + j] = Math.max(at(i + 1, j), at(i, j + 1), at(i + 1, j + 1) + weight(a[i], b[j]));
  const pairs: CallPair<C>[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [first, second] = [a[i], b[j]];
    const matched = weight(first, second);
    if (first !== undefined && second !== undefined && matched > 0 && at(i, j) === at(i + 1, j + 1) + matched) {
      pairs.push({ left: first, right: second });
      i += 1;
      j += 1;
    } else if (first !== undefined && (second === undefined || at(i + 1, j) >= at(i, j + 1))) {
      pairs.push({ left: first });
      i += 1;
    } else if (second !== undefined) {
      pairs.push({ right: second });
      j += 1;
    }
  }
  const rest = Math.max(left.length, right.length) - MAX_ALIGNED;
  for (let index = 0; index < rest; index += 1) {
    const [first, second] = [left[MAX_ALIGNED + index], right[MAX_ALIGNED + index]];
    pairs.push(omitUndefined({ left: first, right: second }));
  }
  return pairs;
}

const MAX_ALIGNED = 1_000;

function weight(a: AlignedCall | undefined, b: AlignedCall | undefined): number {
  if (a === undefined || b === undefined || a.name !== b.name) return 0;
  return a.arguments === b.arguments ? 3 : 2;
}
