/** Reads JSON Lines as they arrive. https://jsonlines.org */
import { HttpError } from '../../http/HttpError';
import type { JsonLimits } from '../../http/JsonScan';
import { parseJson } from '../../http/parseJson';

/** Bytes. */
const MAX_LINE = 16 * 1024 * 1024;
/** Each line is a request. */
const LIMITS: JsonLimits = { maxJsonDepth: 72, maxJsonValues: 100_000 };
const NEWLINE = 0x0a;
/** Spaces, tabs and carriage returns. */
const BLANK: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);

export interface JsonLine {
  /** From 1. */
  readonly line: number;
  readonly value: unknown;
}

/** @throws HttpError for a line that is not JSON, or is too long or has too many values */
export async function* readJsonLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<JsonLine, void, undefined> {
  let line = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  const add = (part: Uint8Array): void => {
    length += part.length;
    if (length > MAX_LINE) throw new HttpError(400, `Line ${line} of the file is too long.`);
    parts.push(part);
  };
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      yield* parse(Buffer.concat(parts), line);
      line += 1;
      parts = [];
      length = 0;
      start = end + 1;
    }
    add(chunk.subarray(start));
  }
  yield* parse(Buffer.concat(parts), line);
}

async function* parse(text: Buffer, line: number): AsyncGenerator<JsonLine, void, undefined> {
  if (isBlank(text)) return;
  let value: unknown;
  try {
    value = await parseJson(text, LIMITS);
  } catch (error) {
    if (error instanceof HttpError) throw new HttpError(400, `Line ${line} of the file has too many values.`);
    // The cause is dropped because it quotes the file.
    throw new HttpError(400, `Line ${line} of the file is not valid JSON.`);
  }
  yield { line, value };
}

function isBlank(text: Buffer): boolean {
  return text.every((byte) => BLANK.has(byte));
}
