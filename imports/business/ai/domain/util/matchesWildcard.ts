/** Whether a name matches a pattern, in which `*` stands for any characters. Case matters. */
export function matchesWildcard(pattern: string, name: string): boolean {
  // Without regular expressions: patterns come from users, and some expressions take very long.
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
