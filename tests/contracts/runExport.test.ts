/** The export of a run: complete, without secrets, and for its owner and admins only. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import type { RunExport } from '../../imports/business/ai/domain/types/RunExport';
import { PRIVATE_RUN_FIELDS } from '../../imports/business/ai/domain/types/RunExport';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { createToolCall } from '../../imports/business/ai/domain/entities/Tool';
import { createHost } from '../../imports/host/createHost';
import type { Host } from '../../imports/host/createHost';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { newKey } from '../support/oauth/ProvidersHost';
import { runRequest } from '../support/runRequests';

const LONG = 'a long result '.repeat(5_000);
const actorOf = (userId: string): Actor => ({ userId, isAdmin: userId === 'root', source: 'http' });

describe('The export of a run', () => {
  let opened: TestDatabase;
  let host: Host;
  let server: Server;
  before(async () => {
    opened = await DATABASES['embedded (SQLite)']();
    const { database } = opened;
    const store = await openRunStore(database);
    const request = runRequest('run-1', { userId: 'ann' });
    const secretTool = {
      type: 'mcp',
      server_url: 'https://tools.example',
      authorization: 'tok-canary',
      headers: { 'x-key': 'key-canary' },
    } as const;
    const lease = await store.create(
      { ...request, plan: { ...request.plan, tools: ['clock', secretTool] } },
      'running',
      'owner-1',
    );
    const call = createToolCall({
      id: 'c1',
      call_id: 'c1',
      name: 'clock',
      arguments: `{"text":"${LONG}"}`,
      blocking: true,
      createdAt: 5,
    });
    await store.saveCalls(lease, [call]);
    host = await createHost(
      { ai: { providers: [] }, secretKeys: newKey('k1'), rootUrl: 'http://localhost', allowPrivateHosts: true },
      {
        database: {
          isExclusive: true,
          collection: (name) => database.collection(name),
          close: () => Promise.resolve(),
        },
        authenticate: ({ headers }) => {
          const userId = String(headers['x-user']);
          return userId === 'root' ? { userId, scopes: ['admin'] } : { userId };
        },
        findUser: (userId) => Promise.resolve(actorOf(userId)),
        hasAccounts: true,
      },
    );
    server = createServer(express().use(host.api.router)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(async () => {
    server.close();
    server.closeAllConnections();
    await host.close();
    await opened.close();
  });

  const get = (user: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/runs/run-1/export`, {
      headers: { 'x-user': user },
    });

  it('has the complete arguments, which views cut', async () => {
    const response = await get('ann');
    expect(response.headers.get('content-disposition')).to.equal('attachment; filename=run-run-1.json');
    const { calls, format, run } = (await response.json()) as RunExport;
    expect(format).to.equal('bolide.run');
    expect(run.executionId).to.equal('run-1');
    expect(calls[0]?.arguments.length).to.be.above(LONG.length);
  });

  it('masks credentials, and lacks what only the owner process uses', async () => {
    const text = await (await get('ann')).text();
    expect(text).not.to.include('canary');
    const { run, plan } = JSON.parse(text) as RunExport;
    expect(run).not.to.have.any.keys(...PRIVATE_RUN_FIELDS);
    expect(plan.tools[1]).to.deep.include({ authorization: '[redacted]', headers: { 'x-key': '[redacted]' } });
  });

  it('is the same operation for Meteor’s clients', async () => {
    const exported = await host.operations['ai.runs.export'](actorOf('ann'), { executionId: 'run-1' });
    expect(exported.calls).to.have.length(1);
  });

  it('is for its owner and admins: to others the run does not exist', async () => {
    expect((await get('root')).status).to.equal(200);
    expect((await get('bob')).status).to.equal(404);
    const error = await failure(host.operations['ai.runs.export'](actorOf('bob'), { executionId: 'run-1' }));
    expect(error).to.include({ code: 'invalid-request', path: 'executionId' });
    const argument = { executionId: 'run-1', all: true };
    expect(await failure(host.operations['ai.runs.export'](actorOf('ann'), argument))).to.include({ path: 'all' });
  });
});
