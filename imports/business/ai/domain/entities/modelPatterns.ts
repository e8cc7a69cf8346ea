/**
 * Lists of permitted models: exact names (`gpt-5-mini`, `openai/gpt-5-mini`), everything of a provider (`openai/*`),
 * and names with `*` for any characters (`claude-*`). Case matters.
 */

/** @param names by which a model is known: `model`, `provider/model`, or as a client named it */
export function permitsModel(patterns: readonly string[], names: readonly string[]): boolean {
  return patterns.some((pattern) => names.some((name) => matchesPattern(pattern, name)));
}

/** Without regular expressions: patterns come from users, and some expressions take very long. */
function matchesPattern(pattern: string, name: string): boolean {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return name === pattern;
  if (!name.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - end.length >= at && name.endsWith(end);
}
