/** Groups of vendors' routes that the gateway does not serve: 501 with the reason, in the shape of their API. */
import { expect } from 'chai';
import { fieldsOf } from '../../imports/business/ai/domain/util/json';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';

const GOOGLE = [
  ['GET', '/v1beta/files'],
  ['GET', '/v1alpha/files/abc'],
  ['DELETE', '/v1beta/files/abc'],
  ['POST', '/upload/v1beta/files'],
  ['GET', '/download/v1beta/files/abc:download'],
  ['POST', '/v1beta/interactions'],
  ['GET', '/v1beta/interactions/abc'],
  ['POST', '/v1beta/interactions/abc/cancel'],
  ['DELETE', '/v1beta/interactions/abc'],
  ['GET', '/v1beta/batches'],
  ['POST', '/v1beta/models/google:batchGenerateContent'],
  ['POST', '/v1beta/models/google:predictLongRunning'],
  ['GET', '/v1beta/cachedContents'],
  ['GET', '/v1beta/tunedModels/a/permissions'],
] as const;

const OPENAI = [
  ['POST', '/v1/uploads'],
  ['POST', '/v1/uploads/u/parts'],
  ['GET', '/v1/vector_stores'],
  ['POST', '/v1/threads/t/runs'],
  ['POST', '/v1/completions'],
  ['GET', '/v1/fine_tuning/jobs'],
] as const;

describe('A group of routes that is not served', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  for (const [method, path] of GOOGLE)
    it(`is 501 in Google's form: ${method} ${path}`, async () => {
      const headers = { authorization: '', 'x-goog-api-key': TOKENS.ann };
      const response = await gateway.request(path, undefined, { method, headers });
      expect(response.status).to.equal(501);
      const error = fieldsOf(fieldsOf(await response.json())['error']);
      expect(error).to.include({ code: 501, status: 'UNIMPLEMENTED' });
      expect(error['message']).to.match(/not (?:served|relayed)\. \w/);
    });

  for (const [method, path] of OPENAI)
    it(`is 501 in OpenAI's form: ${method} ${path}`, async () => {
      const response = await gateway.request(path, undefined, { method });
      expect(response.status).to.equal(501);
      expect(fieldsOf(fieldsOf(await response.json())['error'])['message']).to.match(/not (?:served|relayed)\. \w/);
    });

  it('hides no route that is served, and no path that is unknown', async () => {
    const google = { headers: { authorization: '', 'x-goog-api-key': TOKENS.ann } };
    expect((await gateway.request('/v1beta/models', undefined, google)).status).to.equal(200);
    expect((await gateway.request('/v1/files')).status).to.equal(200);
    expect((await gateway.request('/v1beta/nothing', undefined, google)).status).to.equal(404);
    expect((await gateway.request('/v1/nothing')).status).to.equal(404);
  });
});
