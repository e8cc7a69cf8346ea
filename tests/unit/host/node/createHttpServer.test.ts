import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import express from 'express';
import { createRouter } from '../../../../imports/api/http/createRouter';
import type { HttpRouter } from '../../../../imports/api/http/createRouter';
import type { HttpHandler } from '../../../../imports/api/http/HttpMessages';
import { createHttpServer } from '../../../../imports/host/node/createHttpServer';

/** Answers with what a route reads of its request. */
const echo: HttpHandler = (request, response) => {
  const { path, baseUrl, originalUrl, protocol, query, params } = request;
  response
    .status(202)
    .set('x-one', 'a')
    .set({ 'x-two': ['b', 'c'], 'x-three': 3 })
    .json({ path, baseUrl, originalUrl, protocol, query, params });
};

function routes(): HttpRouter {
  const inner = createRouter();
  inner.get('/runs/:id', echo);
  inner.get('/page', (_request, response) => {
    response.set('content-type', 'text/plain; charset=utf-8').send('ü');
  });
  const outer = createRouter();
  outer.use('/api', inner);
  return outer;
}

/** @returns the raw response, without its date */
async function ask(port: number, head: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${head}\r\nhost: a.example\r\nconnection: close\r\n\r\n`);
  return (await text(socket)).replace(/^date:.*\r\n/im, '');
}

describe('createHttpServer', () => {
  for (const head of [
    'GET /api/runs/a%20b?limit=2&tag=x&tag=y&empty= HTTP/1.1',
    'GET http://a.example/api/runs/1?q=%C3%BC HTTP/1.1',
    'HEAD /api/page HTTP/1.1',
    'GET /api/page HTTP/1.1',
  ])
    it(`answers ${head} as an app of Express does`, async () => {
      const router = routes();
      const app = express().disable('x-powered-by').disable('etag').use(router);
      const servers = [
        createHttpServer({}, (request, response) => router(request, response, () => response.status(404).end())),
        app.listen(0, '127.0.0.1'),
      ];
      const answers: string[] = [];
      for (const server of servers) {
        if (!server.listening) server.listen(0, '127.0.0.1');
        if (!server.listening) await once(server, 'listening');
        const answer = await ask((server.address() as AddressInfo).port, head);
        const [headers = '', body = ''] = answer.split('\r\n\r\n');
        answers.push([...headers.toLowerCase().split('\r\n').sort(), body].join('\n'));
        server.close();
      }
      expect(answers[0]).to.equal(answers[1]);
      expect(answers[0]).to.match(/http\/1.1 20[02]/);
    });
});
