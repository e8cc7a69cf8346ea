/** Images and files that travel inside a request, or are named by URL. */
import { describe, wrong } from './PlainReader';
import type { Plain } from './PlainReader';

/** An http(s) URL, or a data URI that holds an image in base64. */
export function imageUrl(value: Plain | undefined, path: string): string {
  if (typeof value !== 'string')
    throw wrong(path, `must be a string with an http(s) URL or a data URI, not ${describe(value)}`);
  if (!isDataUri(value)) return httpUrl(value, path);
  if (!/^data:image\/[\w.+-]+(;[\w.+=-]+)*;base64,/i.test(value.slice(0, 200))) {
    throw wrong(path, 'must be a data URI of the form data:image/<kind>;base64,<data>');
  }
  checkBase64(value.slice(value.indexOf(',') + 1), path);
  return value;
}

export function httpUrl(value: string, path: string): string {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value))
    throw wrong(path, 'must be an http or https URL, or a data URI with base64');
  return value;
}

/** A data URI of any kind, or bare base64. */
export function fileData(value: string, path: string): string {
  if (!isDataUri(value)) {
    checkBase64(value, path);
    return value;
  }
  if (!/^data:[\w.+-]+\/[\w.+-]+(;[^,;]+)*;base64,/i.test(value.slice(0, 500))) {
    throw wrong(path, 'must be a data URI of the form data:<type>/<kind>;base64,<data>, or base64 alone');
  }
  checkBase64(value.slice(value.indexOf(',') + 1), path);
  return value;
}

function isDataUri(value: string): boolean {
  return /^data:/i.test(value);
}

function checkBase64(data: string, path: string): void {
  const digits = data.endsWith('==') ? data.length - 2 : data.endsWith('=') ? data.length - 1 : data.length;
  // A search for one wrong character needs no backtracking, however long the data is.
  if (digits === 0 || digits % 4 === 1 || /[^A-Za-z0-9+/]/.test(data.slice(0, digits))) {
    throw wrong(path, 'must hold base64 in the standard alphabet (A-Z a-z 0-9 + /), without line breaks');
  }
}
