/** What guardrails read: a text in any field of a request, planted by the schemas of the APIs. */
import { expect } from 'chai';
import { createGuardrails } from '../../imports/business/guardrails/createGuardrails';
import { API_REQUESTS, positionsOfApi } from '../support/apiRequests';
import { startGateway } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { pathText, replaced, valueAt } from '../support/requestPositions';
import type { Path } from '../support/requestPositions';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { allInSoak, inParts } from '../support/soak';

const MARK = 'planted.text@example.com';

/** Ids, addresses, data and words of a vocabulary, which no guardrail reads. */
const UNREAD = new RegExp(
  `(?:^|\\.)(?:${[
    ...['id', '\\w+_id', 'type', 'model', 'mode', 'format', 'media_type', 'mimeType', 'mime_type', 'service_tier'],
    ...['role', 'phase', 'status', 'detail', 'signature', 'thoughtSignature', 'thought_signature', 'encrypted_content'],
    ...['authorization', 'authorization_token', 'headers\\.a_key', 'image_url', 'file_url', 'file_data'],
  ].join('|')})(?:\\[\\d+\\])*$`,
);

/** Data of images and files; that of a document may be its text. */
function isData(body: unknown, path: Path): boolean {
  return path.at(-1) === 'data' && (valueAt(body, path.slice(0, -1)) as JsonObject)['type'] !== 'text';
}

for (const [name, api] of Object.entries(API_REQUESTS))
  describe(`A text in any field of ${name}`, () => {
    let gateway: Gateway;
    before(async () => {
      gateway = await startGateway({ manager: { guardrails: createGuardrails({ pii: { types: ['email'] } }) } });
    });
    after(() => gateway.close());

    const positions = positionsOfApi(api).filter(({ body, path }) => typeof valueAt(body, path) === 'string');

    for (const [part, some] of inParts(allInSoak(positions, 150), 1_000).entries())
      it(`is read by guardrails before it is sent, part ${part + 1}`, async () => {
        const missed = new Set<string>();
        for (const { path, body } of some) {
          const at = pathText(path);
          if (UNREAD.test(at) || isData(body, path)) continue;
          const before = gateway.simulator.requests.length;
          const response = await gateway.request(api.path, replaced(body, path, MARK));
          await response.arrayBuffer();
          if (JSON.stringify(gateway.simulator.requests.slice(before).map((request) => request.body)).includes(MARK))
            missed.add(at.replaceAll(/\[\d+\]/g, '[]'));
        }
        expect([...missed]).to.deep.equal([]);
      });
  });
