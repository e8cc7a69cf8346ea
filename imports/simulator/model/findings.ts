/** What a user's text offers to fill arguments with: quoted strings, numbers, names of places. Each is used once. */

export interface Finding {
  readonly text: string;
  used: boolean;
}

export interface Findings {
  readonly text: string;
  readonly quoted: readonly Finding[];
  readonly numbers: readonly Finding[];
  readonly places: readonly Finding[];
  readonly emails: readonly Finding[];
  readonly urls: readonly Finding[];
  readonly dates: readonly Finding[];
}

export function findingsIn(text: string): Findings {
  const urls = matches(text, /\bhttps?:\/\/[^\s"'<>)]+/g);
  const emails = matches(text, /\b[\w.+-]+@[\w-]+\.[\w.-]*\w/g);
  const dates = matches(text, /\b\d{4}-\d{2}-\d{2}\b/g);
  const rest = blank(text, [...urls, ...emails, ...dates]);
  const quoted = [...rest.matchAll(/"([^"]+)"|“([^”]+)”|(?:^|[\s(])'([^']+)'(?=[\s).,;:!?]|$)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );
  return {
    text,
    quoted: quoted.map(fresh),
    numbers: matches(blank(rest, quoted), /-?\d+(?:\.\d+)?/g).map(fresh),
    places: placesIn(blank(rest, quoted)).map(fresh),
    emails: emails.map(fresh),
    urls: urls.map(fresh),
    dates: dates.map(fresh),
  };
}

/** The first finding that isn't used yet, used from now on. */
export function take(findings: readonly Finding[]): string | undefined {
  const next = findings.find((finding) => !finding.used);
  if (next === undefined) return undefined;
  next.used = true;
  return next.text;
}

/** Capitalised names that don't merely begin a sentence: "New York", "Berlin". */
function placesIn(text: string): string[] {
  return [...text.matchAll(/(?<=[\p{L}\d,;:)] )\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)*/gu)]
    .map((match) => match[0])
    .filter((name) => !NO_PLACES.has(name));
}

const NO_PLACES: ReadonlySet<string> = new Set([
  'I',
  "I'm",
  'Celsius',
  'Fahrenheit',
  'JSON',
  'API',
  'Please',
  'Then',
  'Also',
  'And',
]);

function matches(text: string, pattern: RegExp): string[] {
  return text.match(pattern) ?? [];
}

function blank(text: string, parts: readonly string[]): string {
  return parts.reduce((rest, part) => rest.replace(part, ' '.repeat(part.length)), text);
}

function fresh(text: string): Finding {
  return { text, used: false };
}
