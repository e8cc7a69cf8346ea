/** Values of a wrong type in every position of every request: a fault of the caller's, found before a model is paid. */
import { expect } from 'chai';
import { isObject } from '../../imports/business/ai/domain/util/json';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { API_REQUESTS, positionsOfApi } from '../support/apiRequests';
import { startGateway } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { pathText, positionsOf, replaced, valueAt } from '../support/requestPositions';
import { allInSoak, inParts } from '../support/soak';
import { startSimulatedServer } from '../support/startSimulatedServer';
import type { SimulatedServer } from '../support/startSimulatedServer';

const WRONG: readonly unknown[] = [null, true, -1.5, 'a text', [], {}, [null], { a: null }];

interface Wrong {
  readonly at: string;
  readonly body: JsonObject;
}

/** @param positions valid values that have the position */
function wrongAt(
  positions: readonly { readonly path: readonly (string | number)[]; readonly body: JsonObject }[],
): readonly Wrong[] {
  return positions.flatMap(({ path, body }) =>
    WRONG.filter((value) => typeof value !== typeof valueAt(body, path) || typeof value === 'object').map((value) => ({
      at: `${pathText(path)} = ${JSON.stringify(value)}`,
      body: replaced(body, path, value) as JsonObject,
    })),
  );
}

for (const [name, api] of Object.entries(API_REQUESTS))
  describe(`A wrong type in a request of ${name}`, () => {
    let gateway: Gateway;
    before(async () => {
      gateway = await startGateway();
    });
    after(() => gateway.close());

    const wrong = wrongAt(positionsOfApi(api));
    const { path: otherPath = api.path, model } = api.elsewhere;
    for (const [vendor, path, change] of [
      ['the same API', api.path, {}],
      ['another API', otherPath, model === undefined ? {} : { model }],
    ] as const)
      for (const [part, some] of inParts(allInSoak(wrong, 60), 1_500).entries())
        it(`is never the server’s fault, nor paid and then refused, with a vendor of ${vendor}, part ${part + 1}`, async () => {
          const problems: string[] = [];
          for (const { at, body } of some) {
            const { number = 0 } = gateway.simulator.requests.at(-1) ?? {};
            const response = await gateway.request(path, { ...body, ...change });
            const text = await response.text();
            const isPaid = gateway.simulator.requests.some((sent) => sent.number > number && sent.status === 200);
            if (response.status >= 500 || (isPaid && response.status !== 200))
              problems.push(`${response.status} ${at}: ${text.slice(0, 150)}`);
          }
          expect(problems).to.deep.equal([]);
          expect(gateway.unexpected.map(String)).to.deep.equal([]);
        });
  });

describe('A wrong type in a request of the server’s own API', () => {
  let server: SimulatedServer;
  before(async () => {
    server = await startSimulatedServer({ USER_REQUESTS_PER_MINUTE: '0' });
  });
  after(() => server.close());

  it('is never the server’s fault', async () => {
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
    };
    const wrong = Object.entries(document.paths).flatMap(([path, { post }]) => {
      const content = isObject(post?.['requestBody']) ? post['requestBody']['content'] : undefined;
      const schema =
        isObject(content) && isObject(content['application/json']) ? content['application/json']['schema'] : undefined;
      if (!isObject(schema)) return [];
      const positions = positionsOf(schema).map(({ path: at, value }) => ({ path: at, body: value as JsonObject }));
      return wrongAt(positions).map((each) => ({ ...each, path: path.replaceAll(/\{\w+\}/g, 'an-id') }));
    });
    const problems: string[] = [];
    for (const { path, at, body } of allInSoak(wrong, 150)) {
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      // What no vendor can do is 501.
      if (response.status >= 500 && response.status !== 501)
        problems.push(`${response.status} ${path} ${at}: ${text.slice(0, 150)}`);
    }
    expect(problems).to.deep.equal([]);
  });
});
