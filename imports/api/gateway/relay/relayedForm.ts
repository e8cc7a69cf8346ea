/**
 * A multipart form on its way to a vendor. It is read by a parser and written anew, so that the vendor reads what was
 * checked: of two readers of the same bytes, one could take a file's name or a folded header for another model.
 */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import { isKnownFormField, isModelField } from '../../../business/ai/infrastructure/vendors/modelFields';
import { readFormParts } from './readFormParts';
import type { FormField, FormFile, FormPart } from './readFormParts';
import type { Upload } from './relayStreams';
import { isList } from '../../../business/ai/domain/util/json';
import type { RelayForm } from '../../../business/ai/domain/types/RelayTypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';

export interface RelayedForm {
  readonly model: string;
  /**
   * The form with another model, which is sent first.
   * @param isLimited refuses fields by which a host that knows them could choose a model
   */
  readonly sendAs: (model: string, isLimited: boolean) => Upload & { readonly body: RelayForm };
  /** Drops the rest of a form that is not sent on. */
  readonly discard: () => Promise<void>;
}

/**
 * Reads up to the field `model`: clients that send it after a file have the file kept in memory, within the body limit.
 * @throws LLMInvalidRequestError for a form without the field, or a body that is no form
 */
export async function readRelayedForm({ headers, body }: Upload): Promise<RelayedForm> {
  const parts = readFormParts(body, headers['content-type'] ?? '');
  const before: FormPart[] = [];
  for (;;) {
    const { done, value: part } = await parts.next();
    if (done === true) throw new LLMInvalidRequestError('You must provide a model.', { path: 'model' });
    if (part.name === 'model' && isField(part))
      return {
        model: part.value,
        sendAs: (model, isLimited) => {
          const boundary = `bolide-${randomBytes(16).toString('hex')}`;
          return {
            headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
            body: new WrittenForm(boundary, model, { before, parts, isLimited }),
          };
        },
        discard: async () => {
          await parts.return();
        },
      };
    before.push(await keep(part));
  }
}

/** @returns the part, whose content can be read later */
async function keep(part: FormPart): Promise<FormPart> {
  if (isField(part)) return part;
  const chunks: Uint8Array[] = [];
  for await (const chunk of part.content) chunks.push(chunk);
  return { ...part, content: Readable.from(chunks) };
}

interface Rest {
  readonly before: FormPart[];
  readonly parts: AsyncGenerator<FormPart, void, undefined>;
  readonly isLimited: boolean;
}

class WrittenForm implements RelayForm {
  private readonly boundary: string;
  private readonly model: string;
  private readonly rest: Rest;

  constructor(boundary: string, model: string, rest: Rest) {
    this.boundary = boundary;
    this.model = model;
    this.rest = rest;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const { boundary, model, rest } = this;
    try {
      yield* writePart(boundary, { name: 'model', value: model });
      for (const part of rest.before) yield* writePart(boundary, checked(part, rest.isLimited));
      for await (const part of rest.parts) yield* writePart(boundary, checked(part, rest.isLimited));
      yield Buffer.from(`--${boundary}--\r\n`);
    } finally {
      await rest.parts.return();
    }
  }

  async readFields(): Promise<JsonObject> {
    const { before, parts } = this.rest;
    for await (const part of parts) before.push(await keep(part));
    const texts = Map.groupBy(before.filter(isField), ({ name }) => name);
    return Object.fromEntries(
      Array.from(texts, ([name, fields]) => [
        name,
        fields.length === 1 ? fields[0]?.value : fields.map(({ value }) => value),
      ]),
    );
  }

  withFields(fields: JsonObject): RelayForm {
    const used = new Map<string, number>();
    const before = this.rest.before.map((part) => {
      if (!isField(part)) return part;
      const at = used.get(part.name) ?? 0;
      used.set(part.name, at + 1);
      const value = fields[part.name];
      return { name: part.name, value: String(isList(value) ? value[at] : value) };
    });
    return new WrittenForm(this.boundary, this.model, { ...this.rest, before });
  }
}

function isField(part: FormPart): part is FormField {
  return 'value' in part;
}

/** @throws LLMInvalidRequestError for a part by which the vendor could choose another model */
function checked(part: FormPart, isLimited: boolean): FormPart {
  if (isModelField(part.name))
    throw new LLMInvalidRequestError(
      `The form names a second model, in the field "${part.name}". Send the field "model" once, and no other for models.`,
      { path: 'model' },
    );
  if (isLimited && !isKnownFormField(part.name))
    throw new LLMInvalidRequestError(
      `The field "${part.name}" is not known here, and the vendor could choose a model by it, but you may use only some. Leave it out.`,
      { path: part.name },
    );
  return part;
}

/** https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data */
async function* writePart(boundary: string, part: FormPart): AsyncGenerator<Uint8Array, void, undefined> {
  if (!/^[\w.[\]-]{1,100}$/.test(part.name))
    throw new LLMInvalidRequestError(
      'The names of a form’s fields consist of up to 100 letters, digits, ".", "_", "-" and brackets.',
    );
  yield Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"`);
  if (isField(part)) yield fieldBytes(part);
  else {
    yield fileHead(part);
    yield* part.content;
  }
  yield Buffer.from('\r\n');
}

function fieldBytes({ value }: FormField): Uint8Array {
  return Buffer.from(`\r\n\r\n${value}`);
}

/** Vendors look at the end of a file's name alone. What a careless reader could take for more is replaced. */
function fileHead({ fileName, contentType }: FormFile): Uint8Array {
  const name = fileName.replaceAll(/[\p{Cc}"\\;]/gu, '_');
  const type = /^(?!multipart|message)[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : 'application/octet-stream';
  return Buffer.from(`; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`);
}
