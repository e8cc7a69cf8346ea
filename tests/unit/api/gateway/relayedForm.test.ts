/** Multipart forms that arrive in pieces of any size, and are written anew for their vendor. */
import { expect } from 'chai';
import fc from 'fast-check';
import { readRelayedForm } from '../../../../imports/api/gateway/relay/relayedForm';
import { failure } from '../../../support/failure';

const FILE = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nname="model"\r\n\r\nx\r\n';
const MODEL = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nopenai/whisper-1\r\n';
const END = '--b--\r\n';
const FORMS = { 'before a file': MODEL + FILE + END, 'after a file': FILE + MODEL + END };

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

const uploadOf = (
  text: string,
  size: number,
  contentType = 'multipart/form-data; boundary=b',
): Parameters<typeof readRelayedForm>[0] => ({
  headers: { 'content-type': contentType, 'content-length': String(Buffer.byteLength(text)) },
  body: pieces(text, size),
});

interface Sent {
  readonly text: string;
  /** The form's parts, read by another parser. */
  readonly entries: readonly (readonly [name: string, value: string, fileName?: string])[];
}

async function sentFor(text: string, size = 64, contentType?: string, isLimited = false): Promise<Sent> {
  const form = await readRelayedForm(uploadOf(text, size, contentType));
  const { headers, body } = form.sendAs('whisper-1', isLimited);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const sent = Buffer.concat(chunks);
  expect(headers).not.to.have.property('content-length');
  const entries: [string, string, string?][] = [];
  // undici's.
  for (const [name, value] of await new Response(sent, { headers }).formData())
    entries.push(typeof value === 'string' ? [name, value] : [name, await value.text(), value.name]);
  return { text: sent.toString(), entries };
}

describe('A relayed form', () => {
  for (const [place, text] of Object.entries(FORMS))
    it(`has its model ${place}, and is sent with another one first, however the body is cut`, async () => {
      for (const size of [1, 2, 7, 64, 10_000]) {
        expect((await readRelayedForm(uploadOf(text, size))).model).to.equal('openai/whisper-1');
        expect((await sentFor(text, size)).entries).to.deep.equal([
          ['model', 'whisper-1'],
          ['file', 'name="model"\r\n\r\nx', 'a'],
        ]);
      }
    });

  it('is refused without a model', async () => {
    expect(await failure(readRelayedForm(uploadOf(FILE + END, 10)))).to.include({
      code: 'invalid-request',
      path: 'model',
    });
  });

  it('is sent while its files arrive', async () => {
    let read = 0;
    async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
      yield await Promise.resolve(Buffer.from(MODEL + FILE.slice(0, -2)));
      for (;;) yield await Promise.resolve(Buffer.alloc(((read += 1_000), 1_000)));
    }
    const { sendAs } = await readRelayedForm({ ...uploadOf('', 1), body: endless() });
    let sent = 0;
    for await (const chunk of sendAs('whisper-1', false).body) if ((sent += chunk.byteLength) > 1_000_000) break;
    expect(sent).to.be.greaterThan(1_000_000);
    expect(read, 'no faster than the vendor takes it').to.be.lessThan(sent + 500_000);
  });

  it('ends with the error of its body, before and after the model', async () => {
    const left = new Error('The client has left.');
    async function* cut(text: string): AsyncGenerator<Uint8Array, void, undefined> {
      yield await Promise.resolve(Buffer.from(text));
      throw left;
    }
    expect(await failure(readRelayedForm({ ...uploadOf('', 1), body: cut(FILE) }))).to.equal(left);
    const { sendAs } = await readRelayedForm({ ...uploadOf('', 1), body: cut(MODEL + FILE.slice(0, -2)) });
    const reading = async (): Promise<void> => {
      for await (const _ of sendAs('whisper-1', false).body);
    };
    expect(await failure(reading())).to.equal(left);
  });

  const part = (head: string, content = 'openai/other'): string => `--b\r\n${head}\r\n\r\n${content}\r\n`;
  const field = (name: string): string => part(`Content-Disposition: form-data; name="${name}"`);
  const fileNamed = (name: string): string => part(`Content-Disposition: form-data; name="file"; filename="${name}"`);

  for (const [form, text, entry] of [
    [
      '.NET',
      part('Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=language', 'de'),
      ['language', 'de'],
    ],
    ['OkHttp', part('Content-Disposition: form-data; name="language"\r\nContent-Length: 2', 'de'), ['language', 'de']],
    ['a name in UTF-8', fileNamed('ä.mp3'), ['file', 'openai/other', 'ä.mp3']],
    ['a list', field('timestamp_granularities[]'), ['timestamp_granularities[]', 'openai/other']],
    [
      'a semicolon in the name of a file',
      fileNamed('a; name=model; b.mp3'),
      ['file', 'openai/other', 'a_ name=model_ b.mp3'],
    ],
    [
      'a quote in the name of a file',
      fileNamed('a\\"; name=\\"model.mp3'),
      ['file', 'openai/other', 'a__ name=_model.mp3'],
    ],
    ['a folded header', part('Content-Disposition: form-data;\r\n name="language"'), ['language', 'openai/other']],
    [
      'Latin-1',
      part('Content-Type: text/plain; charset=latin1\r\nContent-Disposition: form-data; name="prompt"', 'a'),
      ['prompt', 'a'],
    ],
  ] as const)
    it(`is accepted from ${form}, and written in the plainest form`, async () => {
      for (const size of [1, 64, 100_000]) {
        const { entries, text: sent } = await sentFor(MODEL + text + END, size);
        expect(entries).to.deep.equal([['model', 'whisper-1'], entry]);
        for (const line of sent.split('\r\n').filter((each) => /^content-disposition/i.test(each)))
          expect(line).to.match(/^Content-Disposition: form-data; name="[\w[\]]+"(?:; filename="[^"\\;]*")?$/);
      }
    });

  for (const [form, text, reason] of [
    ['a second model', MODEL + FILE + field('model') + END, /a second model/],
    ['a model in another case', MODEL + field('Model') + END, /a second model/],
    ['a list of fallbacks', MODEL + field('fallbacks[]') + END, /a second model/],
    ['a list of models', MODEL + field('model[]') + END, /a second model/],
    [
      'a file that is a model',
      MODEL + part('Content-Disposition: form-data; name="model"; filename="a"') + END,
      /a second/,
    ],
    [
      'a model in a folded header',
      MODEL + part('Content-Disposition: form-data;\r\n name="model"') + END,
      /a second model/,
    ],
    [
      'a model beside a quote',
      MODEL + part('Content-Disposition: form-data; name="a\\"; name="model"') + END,
      /names of a form/,
    ],
    ['a part without a name', MODEL + part('Content-Disposition: form-data; filename="x"') + END, /names of a form/],
    ['no end', MODEL + FILE, /cannot be read/],
  ] as const)
    it(`is refused with ${form}`, async () => {
      for (const size of [1, 64, 100_000]) {
        const error = await failure(sentFor(text, size));
        expect(error, String(error)).to.include({ code: 'invalid-request' });
        expect(String(error)).to.match(reason);
      }
    });

  it('has no unknown fields for a caller who may use only some models', async () => {
    const unknown = MODEL + field('adapter') + END;
    expect((await sentFor(unknown)).entries).to.deep.include(['adapter', 'openai/other']);
    expect(await failure(sentFor(unknown, 64, undefined, true))).to.include({
      code: 'invalid-request',
      path: 'adapter',
    });
    expect((await sentFor(MODEL + FILE + field('include[]') + END, 64, undefined, true)).entries).to.have.length(3);
  });

  it('names one model to every parser, whatever its parts are', async () => {
    const text = fc.oneof(
      fc.constantFrom(
        'model',
        'file',
        '"',
        '\\',
        ';',
        ' name=model',
        '\r\n',
        '\n',
        '--b',
        '%22',
        'filename="',
        "*=utf-8''",
      ),
      fc.string({ maxLength: 5 }),
    );
    const texts = fc.array(text, { maxLength: 6 }).map((all) => all.join(''));
    await fc.assert(
      fc.asyncProperty(texts, texts, texts, async (name, fileName, content) => {
        const body = `${MODEL}--b\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\n\r\n${content}\r\n${END}`;
        const sent = await sentFor(body, 1_000).catch((error: unknown) => {
          expect(error).to.include({ code: 'invalid-request' });
        });
        if (sent === undefined) return;
        expect(sent.entries.filter(([each]) => /^model$/i.test(each))).to.deep.equal([['model', 'whisper-1']]);
        for (const line of sent.text.split('\r\n'))
          if (line.startsWith('Content-Disposition')) expect(line.match(/name="/g)).to.have.length.below(3);
      }),
      { numRuns: 300 },
    );
  });

  for (const contentType of ['multipart/form-data; boundary=', 'multipart/form-data', 'text/plain; boundary=b'])
    it(`is refused with the content type ${contentType}`, async () => {
      expect(await failure(sentFor(MODEL + END, 64, contentType))).to.include({ code: 'invalid-request' });
    });

  for (const contentType of ['multipart/form-data; boundary="b"', 'Multipart/Form-Data;charset=UTF-8; boundary=b'])
    it(`is accepted with the content type ${contentType}`, async () => {
      expect((await sentFor(MODEL + END, 64, contentType)).entries).to.deep.equal([['model', 'whisper-1']]);
    });
});
