/** Reads a variable that has JSON, or the path of a JSON file. */
import { readFileSync } from 'node:fs';

/** @param problems receives why it can't be read; the result is then `undefined` */
export function readJsonVariable(name: string, value: string, problems: string[]): unknown {
  const isJson = value.startsWith('{');
  try {
    return JSON.parse(isJson ? value : readFileSync(value, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push(
      isJson
        ? `${name} is not valid JSON: ${reason}`
        : `${name} must be a JSON object or the path of a JSON file: ${reason}`,
    );
    return undefined;
  }
}
