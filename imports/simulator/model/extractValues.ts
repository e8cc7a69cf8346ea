/** Extracts values for arguments from a user's text: quoted strings, numbers, place names. Each is used once. */

export interface ExtractedValue {
  readonly text: string;
  used: boolean;
}

export interface ExtractedValues {
  readonly text: string;
  readonly quoted: readonly ExtractedValue[];
  readonly numbers: readonly ExtractedValue[];
  readonly places: readonly ExtractedValue[];
  readonly emails: readonly ExtractedValue[];
  readonly urls: readonly ExtractedValue[];
  readonly dates: readonly ExtractedValue[];
}

export function extractValues(text: string): ExtractedValues {
  const urls = matches(text, /\bhttps?:\/\/[^\s"'<>)]+/g);
  const emails = matches(text, /\b[\w.+-]+@[\w-]+\.[\w.-]*\w/g);
  const dates = matches(text, /\b\d{4}-\d{2}-\d{2}\b/g);
  const rest = blank(text, [...urls, ...emails, ...dates]);
  const quoted = [...rest.matchAll(/"([^"]+)"|“([^”]+)”|(?:^|[\s(])'([^']+)'(?=[\s).,;:!?]|$)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );
  return {
    text,
    quoted: quoted.map(unused),
    numbers: matches(blank(rest, quoted), /-?\d+(?:\.\d+)?/g).map(unused),
    places: extractPlaces(blank(rest, quoted)).map(unused),
    emails: emails.map(unused),
    urls: urls.map(unused),
    dates: dates.map(unused),
  };
}

/** Returns the first unused value and marks it as used. */
export function takeNext(values: readonly ExtractedValue[]): string | undefined {
  const next = values.find((value) => !value.used);
  if (next === undefined) return undefined;
  next.used = true;
  return next.text;
}

/** Capitalised names that aren't at the start of a sentence: "New York", "Berlin". */
function extractPlaces(text: string): string[] {
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

function unused(text: string): ExtractedValue {
  return { text, used: false };
}
