/** Adapts the reasoning effort of a request to what its model takes. */
import type { WireContext } from '../Wire';

/** From low to high. Groq's word for the effort that a model has of itself is `default`. */
const EFFORTS = ['none', 'minimal', 'low', 'default', 'medium', 'high', 'xhigh', 'max'];

/** Returns the effort, or the nearest one that the vendor supports, with a warning. */
export function acceptedEffort(
  effort: string,
  { quirks, vendor }: Pick<WireContext, 'quirks' | 'vendor'>,
  warnings: string[],
): string {
  const supported = quirks.reasoningEfforts;
  const accepted = supported === undefined || supported.includes(effort) ? effort : nearestEffort(effort, supported);
  if (accepted !== effort)
    warnings.push(
      `"reasoning.effort" was changed from "${effort}" to "${accepted}": ${vendor} does not support "${effort}".`,
    );
  return accepted;
}

/** The next higher effort that the vendor supports, else its highest. An unknown effort is sent as it is. */
function nearestEffort(effort: string, supported: readonly string[]): string {
  const requestedRank = EFFORTS.indexOf(effort);
  if (requestedRank < 0) return effort;
  const supportedEfforts = EFFORTS.filter((level) => supported.includes(level));
  return supportedEfforts.find((level) => EFFORTS.indexOf(level) >= requestedRank) ?? supportedEfforts.at(-1) ?? effort;
}
