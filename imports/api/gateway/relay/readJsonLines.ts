/** Reads JSON Lines as they arrive. https://jsonlines.org */
import { StringDecoder } from 'node:string_decoder';
import { HttpError } from '../../http/HttpError';

/** Characters. */
const MAX_LINE = 16 * 1024 * 1024;

export interface JsonLine {
  /** From 1. */
  readonly line: number;
  readonly value: unknown;
}

/** @throws HttpError for a line that is not JSON */
export async function* readJsonLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<JsonLine, void, undefined> {
  const decoder = new StringDecoder('utf8');
  let line = 0;
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      line += 1;
      yield* parse(text, line);
    }
    if (rest.length > MAX_LINE) throw new HttpError(400, `Line ${line + 1} of the file is too long.`);
  }
  yield* parse(rest + decoder.end(), line + 1);
}

function* parse(text: string, line: number): Generator<JsonLine, void, undefined> {
  if (text.trim() === '') return;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The cause is dropped because it quotes the file.
    throw new HttpError(400, `Line ${line} of the file is not valid JSON.`);
  }
  yield { line, value };
}
