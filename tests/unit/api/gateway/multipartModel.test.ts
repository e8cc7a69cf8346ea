/** The field `model` of a multipart body that arrives in pieces of any size. */
import { expect } from 'chai';
import { readMultipartModel } from '../../../../imports/api/gateway/relay/multipartModel';

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
): Parameters<typeof readMultipartModel>[0] => ({
  headers: { 'content-type': contentType, 'content-length': String(Buffer.byteLength(text)) },
  body: pieces(text, size),
});

/** What the vendor is sent, with its content type. */
async function sentFor(
  text: string,
  size: number,
  contentType?: string,
): Promise<readonly [string, string | undefined]> {
  const { replace } = await readMultipartModel(uploadOf(text, size, contentType));
  const { headers, body } = replace('whisper-1');
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const sent = Buffer.concat(chunks).toString();
  expect(headers['content-length']).to.equal(String(Buffer.byteLength(sent)));
  return [sent, headers['content-type']];
}

describe('readMultipartModel', () => {
  for (const [place, text] of Object.entries(FORMS))
    it(`finds and replaces a field ${place}, which is sent first, however the body is cut`, async () => {
      for (const size of [1, 2, 7, 64, 10_000]) {
        expect((await readMultipartModel(uploadOf(text, size))).model).to.equal('openai/whisper-1');
        const [sent] = await sentFor(text, size);
        const model = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n';
        expect(sent).to.equal(model + FILE + END);
      }
    });

  it('refuses a body without the field', async () => {
    const failure: unknown = await readMultipartModel(uploadOf(FILE + END, 10)).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'invalid-request', path: 'model' });
  });

  it('sends files while they arrive', async () => {
    async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
      yield await Promise.resolve(Buffer.from(MODEL + FILE));
      for (;;) yield await Promise.resolve(Buffer.alloc(1_000));
    }
    const { replace } = await readMultipartModel({ ...uploadOf('', 1), body: endless() });
    let sent = 0;
    for await (const chunk of replace('whisper-1').body) if ((sent += chunk.byteLength) > 100_000) return;
    expect.fail('The body ended.');
  });

  for (const [form, contentType] of [
    ['a quoted boundary', 'multipart/form-data; boundary="b"'],
    ['a charset', 'Multipart/Form-Data;charset=UTF-8; boundary=b'],
  ] as const)
    it(`accepts ${form}, and sends the boundary only`, async () => {
      expect((await sentFor(MODEL + FILE + END, 64, contentType))[1]).to.match(
        /^multipart\/form-data; boundary="?b"?$/,
      );
    });

  for (const [form, head] of [
    ['.NET', 'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=language'],
    ['OkHttp', 'Content-Disposition: form-data; name="language"\r\nContent-Length: 2'],
    ['a name in UTF-8', `Content-Disposition: form-data; name="file"; filename="ä.mp3"; filename*=utf-8''%C3%A4.mp3`],
    ['a list', 'Content-Disposition: form-data; name="timestamp_granularities[]"'],
  ] as const)
    it(`accepts the head of a part of ${form}`, async () => {
      const part = `--b\r\n${head}\r\n\r\nde\r\n`;
      expect((await sentFor(MODEL + part + END, 64))[0]).to.include(part);
    });

  const part = (head: string, content = 'openai/other'): string => `--b\r\n${head}\r\n\r\n${content}\r\n`;
  const field = (name: string): string => part(`Content-Disposition: form-data; name="${name}"`);
  for (const [form, text, reason] of [
    ['a second field', MODEL + FILE + field('model') + END, /a second model/],
    ['a second field in another case', MODEL + field('Model') + END, /a second model/],
    ['a list of fallbacks', MODEL + field('fallbacks[]') + END, /a second model/],
    ['a second field as a list', MODEL + field('model[]') + END, /a second model/],
    [
      'a semicolon in the name of a file',
      MODEL + part('Content-Disposition: form-data; name="file"; filename="a; name=model; b.mp3"') + END,
      /content-disposition/,
    ],
    [
      'a quote in a name',
      MODEL + part('Content-Disposition: form-data; name="a\\"; name="model"') + END,
      /content-disp/,
    ],
    ['two names', MODEL + part('Content-Disposition: form-data; name="a"; name="model"') + END, /content-disposition/],
    [
      'an encoded name',
      MODEL + part(`Content-Disposition: form-data; name*=utf-8''model`) + END,
      /content-disposition/,
    ],
    ['a folded header', MODEL + part('Content-Disposition: form-data;\r\n name="model"') + END, /head of a part/],
    [
      'two headers',
      MODEL + part('Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="model"') + END,
      /content-disposition/,
    ],
    ['a space before a colon', MODEL + part('Content-Disposition : form-data; name="model"') + END, /head of a part/],
    [
      'a bare line feed in a head',
      MODEL + part('A: b\nContent-Disposition: form-data; name="model"') + END,
      /head of a/,
    ],
    [
      'parts within a part',
      MODEL + part('Content-Disposition: form-data; name="a"\r\nContent-Type: multipart/mixed; boundary=c') + END,
      /holds other parts/,
    ],
    [
      'a long head',
      MODEL + part(`Content-Disposition: form-data; name="a"\r\nA: ${'b'.repeat(9_000)}`) + END,
      /head of/,
    ],
    ['a delimiter after a bare line feed', `${MODEL}${FILE.slice(0, -2)}\n${field('model')}${END}`, /its boundary/],
    ['a delimiter before a bare line feed', MODEL + FILE + field('model').replace('\r\n', '\n') + END, /its boundary/],
    [
      'a delimiter within a line',
      MODEL + part('Content-Disposition: form-data; name="a"', 'x--b') + END,
      /its boundary/,
    ],
    ['spaces after a delimiter', MODEL + FILE + field('model').replace('\r\n', ' \r\n') + END, /its boundary/],
    ['something before the first part', `x\r\n${MODEL}${END}`, /before its first part/],
    ['something after the last part', MODEL + END + field('model') + END, /after its last part/],
    ['no end', MODEL + FILE, /ends within a part/],
  ] as const)
    it(`refuses ${form}`, async () => {
      for (const size of [1, 64, 100_000]) {
        const failure: unknown = await sentFor(text, size).catch((error: unknown) => error);
        expect(failure, String(failure)).to.include({ code: 'invalid-request' });
        expect(String(failure)).to.match(reason);
      }
    });

  for (const contentType of [
    'multipart/form-data; boundary=b; boundary=c',
    'multipart/form-data; boundary=b, multipart/form-data; boundary=c',
    'multipart/form-data; xboundary=c; boundary=b',
    `multipart/form-data; boundary*=utf-8''b; boundary=b`,
    'multipart/form-data; boundary="b',
    'multipart/form-data; boundary=',
  ])
    it(`refuses the content type ${contentType}`, async () => {
      const failure: unknown = await sentFor(MODEL + END, 64, contentType).catch((error: unknown) => error);
      expect(failure).to.include({ code: 'invalid-request' });
      expect(String(failure)).to.include('boundary');
    });
});
