/**
 * Lists of permitted models: exact names (`gpt-5-mini`, `openai/gpt-5-mini`), everything of a provider (`openai/*`),
 * and names with `*` for any characters (`claude-*`). Case matters.
 */
import { matchesWildcard } from '../util/matchesWildcard';

/** @param names by which a model is known: `model`, `provider/model`, or as a client named it */
export function permitsModel(patterns: readonly string[], names: readonly string[]): boolean {
  return patterns.some((pattern) => names.some((name) => matchesWildcard(pattern, name)));
}
