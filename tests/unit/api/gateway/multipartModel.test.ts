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

const uploadOf = (text: string, size: number): Parameters<typeof readMultipartModel>[0] => ({
  headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(Buffer.byteLength(text)) },
  body: pieces(text, size),
});

describe('readMultipartModel', () => {
  for (const [place, text] of Object.entries(FORMS))
    it(`finds and replaces a field ${place}, however the body is cut`, async () => {
      for (const size of [1, 2, 7, 64, 10_000]) {
        const { model, replace } = await readMultipartModel(uploadOf(text, size));
        expect(model).to.equal('openai/whisper-1');
        const { headers, body } = replace('whisper-1');
        const chunks: Uint8Array[] = [];
        for await (const chunk of body) chunks.push(chunk);
        const sent = Buffer.concat(chunks).toString();
        expect(sent).to.equal(text.replace('openai/whisper-1', 'whisper-1'));
        expect(headers['content-length']).to.equal(String(sent.length));
      }
    });

  it('refuses a body without the field, or one that ends before it does', async () => {
    for (const text of [FILE + END, END, '', MODEL.slice(0, -4)]) {
      const failure: unknown = await readMultipartModel(uploadOf(text, 10)).catch((error: unknown) => error);
      expect(failure).to.include({ code: 'invalid-request', path: 'model' });
    }
  });
});
