import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import type { Request, Response } from 'express';
import { createExpressServer } from '../../../../imports/startup/node/createExpressServer';

describe('createExpressServer', () => {
  it('creates requests and responses that Express need not change, and that have its methods', async () => {
    const app = express();
    const server = createExpressServer({ keepAliveTimeout: 1 }, app);
    const prototypes: [object | null, object | null][] = [];
    server.prependListener('request', (request, response) =>
      prototypes.push([Object.getPrototypeOf(request) as object, Object.getPrototypeOf(response) as object]),
    );
    app.get('/', (request: Request, response: Response) => {
      prototypes.push([Object.getPrototypeOf(request) as object, Object.getPrototypeOf(response) as object]);
      response
        .status(202)
        .json({ accepts: request.accepts('json'), isApp: request.app === app && response.app === app });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'application/json' } });
    expect(answer.status).to.equal(202);
    expect(await answer.json()).to.deep.equal({ accepts: 'json', isApp: true });
    server.close();
    await once(server, 'close');
    const [[requestBefore, responseBefore] = [], [request, response] = []] = prototypes;
    expect(requestBefore).to.equal(app.request).and.to.equal(request);
    expect(responseBefore).to.equal(app.response).and.to.equal(response);
  });
});
