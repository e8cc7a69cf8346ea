/**
 * Reads multipart/form-data (RFC 7578) as it arrives. What a vendor's parser might read in another way is refused, so
 * that a request has the same fields for the gateway and for the vendor.
 */
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';

/** The pieces of a form are all of its bytes, with a line break before the first delimiter. */
export type FormPiece =
  | {
      readonly type: 'head';
      /** The name of the field. */
      readonly name: string;
      /** The line break and the delimiter before the part, its headers, and the empty line. */
      readonly bytes: Buffer;
    }
  | { readonly type: 'content' | 'end'; readonly bytes: Buffer };

const LINE_BREAK = '\r\n';
/** Bytes of a part's headers, with the delimiter. */
const MAX_HEAD = 8 * 1024;

/** @throws LLMInvalidRequestError for a content type without exactly one boundary */
export function boundaryOf(contentType: string): string {
  const { quoted, plain } =
    /^multipart\/form-data *; *boundary=(?:"(?<quoted>[\w'()+,./:=?-]{1,70})"|(?<plain>[\w'()+,./:=?-]{1,70})) *$/i.exec(
      contentType.replace(/; *charset="?[\w-]+"? *(?=;|$)/i, ''),
    )?.groups ?? {};
  const boundary = quoted ?? plain;
  if (boundary === undefined)
    throw new LLMInvalidRequestError('The content type of a form must have one boundary and no other parameter.');
  return boundary;
}

/** @throws LLMInvalidRequestError for a form that could be read in several ways */
export async function* readFormPieces(
  body: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<FormPiece, void, undefined> {
  const delimiter = Buffer.from(`--${boundary}`);
  // The first delimiter then follows a line break, like the others.
  let rest: Buffer = Buffer.from(LINE_BREAK);
  let place: 'before' | 'within' | 'after' = 'before';
  for await (const chunk of body) {
    rest = Buffer.concat([rest, chunk]);
    while (place !== 'after') {
      const at = rest.indexOf(delimiter);
      // The last bytes may be the beginning of a delimiter.
      const end = at === -1 ? rest.length - delimiter.length - 1 : at - LINE_BREAK.length;
      if (at !== -1 && rest.toString('latin1', Math.max(0, end), at) !== LINE_BREAK) throw misplacedBoundary();
      if (end > 0) {
        if (place === 'before') throw new LLMInvalidRequestError('The form has bytes before its first part.');
        yield { type: 'content', bytes: rest.subarray(0, end) };
        rest = rest.subarray(end);
      }
      const headStart = LINE_BREAK.length + delimiter.length;
      if (at === -1 || rest.length < headStart + 2) break;
      const mark = rest.toString('latin1', headStart, headStart + 2);
      if (mark === '--') {
        place = 'after';
        break;
      }
      if (mark !== LINE_BREAK) throw misplacedBoundary();
      const headEnd = rest.indexOf(LINE_BREAK + LINE_BREAK, headStart, 'latin1');
      if (Math.max(headEnd, headEnd === -1 ? rest.length : 0) > MAX_HEAD)
        throw new LLMInvalidRequestError(`The head of a part of the form is larger than ${MAX_HEAD} bytes.`);
      if (headEnd === -1) break;
      const head = rest.toString('latin1', headStart + LINE_BREAK.length, headEnd);
      if (head.includes(delimiter.toString())) throw misplacedBoundary();
      const bytes = rest.subarray(0, headEnd + 2 * LINE_BREAK.length);
      rest = rest.subarray(bytes.length);
      place = 'within';
      yield { type: 'head', name: fieldNameIn(head), bytes };
    }
    if (place === 'after' && rest.length > 2 * LINE_BREAK.length + delimiter.length + '--'.length) break;
  }
  const close = `${LINE_BREAK}${delimiter.toString()}--`;
  if (place !== 'after') throw new LLMInvalidRequestError('The form ends within a part.');
  if (![close, close + LINE_BREAK].includes(rest.toString('latin1')))
    throw new LLMInvalidRequestError('The form has bytes after its last part.');
  yield { type: 'end', bytes: rest };
}

function misplacedBoundary(): LLMInvalidRequestError {
  return new LLMInvalidRequestError('The form has its boundary elsewhere than on a line between two parts.');
}

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const DISPOSITION_PARAMETER = ` *; *(?:(name|filename)=(?:"([^"\\\\;]*)"|(${TOKEN}))|(filename\\*)=${TOKEN})`;
const DISPOSITION = new RegExp(`^content-disposition: *form-data((?:${DISPOSITION_PARAMETER})+) *$`, 'i');

/** @throws LLMInvalidRequestError */
function fieldNameIn(head: string): string {
  const lines = head.split(LINE_BREAK);
  if (!lines.every((line) => /^[\w-]+:[\t\x20-\x7e\x80-\xff]*$/.test(line)))
    throw new LLMInvalidRequestError('The head of a part of the form is not made of headers of one line each.');
  if (lines.some((line) => /^content-type:[ \t]*(?:multipart|message)\//i.test(line)))
    throw new LLMInvalidRequestError('A part of the form holds other parts. Send each as a part of the form.');
  const [disposition, another] = lines.filter((line) => /^content-disposition:/i.test(line));
  const parameters = another === undefined ? (DISPOSITION.exec(disposition ?? '')?.[1] ?? '') : '';
  const names: string[] = [];
  let name: string | undefined;
  for (const [, key, quoted, plain, extended] of parameters.matchAll(new RegExp(DISPOSITION_PARAMETER, 'gi'))) {
    names.push((key ?? extended ?? '').toLowerCase());
    if (key?.toLowerCase() === 'name') name = quoted ?? plain;
  }
  if (name === undefined || new Set(names).size !== names.length || !/^[\w.[\]-]+$/.test(name))
    throw new LLMInvalidRequestError(
      'A part of the form must have one header content-disposition: form-data; name="…", perhaps with a filename="…". ' +
        'Names have no quotes, backslashes and semicolons; those of fields consist of letters, digits, ".", "_", "-" and brackets.',
    );
  return name;
}
