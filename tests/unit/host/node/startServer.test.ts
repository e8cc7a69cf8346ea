import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { expect } from 'chai';
import sinon from 'sinon';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { exitOnLoss } from '../../../../imports/host/node/exitOnLoss';
import { startServer } from '../../../../imports/host/node/startServer';
import type { RunningServer, ServerOptions } from '../../../../imports/host/node/startServer';
import { setLogWriter } from '../../../../imports/log/logWriter';
import type { LogLine } from '../../../../imports/log/logWriter';
import { failure } from '../../../support/failure';
import { inFlowingTime } from '../../../support/VirtualTime';

describe(
  'startServer',
  inFlowingTime(() => {
    let directory: string;
    let server: RunningServer | undefined;

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bolide-server-'));
    });
    afterEach(async () => {
      await server?.close();
      server = undefined;
      await rm(directory, { recursive: true });
    });

    const start = async (options: Omit<ServerOptions, 'env'>): Promise<RunningServer> =>
      (server = await startServer({ env: { PORT: '0', DATA_DIR: directory }, ...options }));
    const double = {
      name: 'double',
      description: 'Doubles a number.',
      parameters: { type: 'object', properties: { number: { type: 'number' } }, required: ['number'] },
      execute: ({ number }: { number: number }) => number * 2,
    };

    it('serves the API without a dashboard', async () => {
      const { url, isSimulated } = await start({ dashboard: false });
      expect(isSimulated).to.equal(true);
      expect((await fetch(`${url}/health`)).status).to.equal(200);
      expect((await fetch(url)).status).to.equal(404);
    });

    it('offers the tools of a list', async () => {
      const { host } = await start({ dashboard: false, tools: [double] });
      expect(host.module.tools.tools.map(({ name }) => name)).to.deep.equal(['double']);
    });

    it('offers the tools of a registry, including those that are registered later', async () => {
      const tools = new ToolRegistry();
      const { host } = await start({ dashboard: false, tools });
      tools.register(double);
      expect(host.module.tools.getToolDefinition('double')).to.include({ description: 'Doubles a number.' });
    });

    it('serves the files of a given dashboard', async () => {
      const { url } = await start({
        dashboard: () =>
          Promise.resolve(
            new Map([
              ['dashboard-1.js.br', brotliCompressSync('1;')],
              ['manifest.json', Buffer.from('{"script":"dashboard-1.js","signIn":[],"signedIn":[]}')],
              ['favicon.svg', Buffer.from('<svg/>')],
            ]),
          ),
      });
      expect(await (await fetch(url)).text()).to.include('src="/dashboard/dashboard-1.js"');
      const script = await fetch(`${url}/dashboard/dashboard-1.js`);
      expect(script.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
      expect(await script.text()).to.equal('1;');
      expect(await (await fetch(`${url}/favicon.svg`)).text()).to.equal('<svg/>');
    });

    it('closes once, however often it is asked to', async () => {
      const running = await start({ dashboard: false });
      await Promise.all([running.close(), running.close()]);
      await running.close();
    });

    it('answers 503, says why once and exits with 1 when it has lost its data directory', async () => {
      const running = await start({ dashboard: false });
      const { token } = await running.host.apiTokens.tokens.issue({ userId: 'ann', name: 'test', scopes: ['read'] });
      const models = async (): Promise<number> =>
        (await fetch(`${running.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } })).status;
      expect(await models()).to.equal(200);
      const lines: LogLine[] = [];
      const restoreLog = setLogWriter((line) => lines.push(line));
      const exit = sinon.stub<[number]>();
      try {
        await rename(directory, `${directory}-moved`);
        await running.host.lost;
        expect([await models(), (await fetch(`${running.url}/ready`)).status]).to.deep.equal([503, 503]);
        await new Promise<void>((resolve) => {
          exit.callsFake(() => resolve());
          exitOnLoss(running, { exit });
        });
        expect(exit.args).to.deep.equal([[1]]);
        const errors = lines.filter(({ level }) => level === 'error').map(({ message }) => message);
        expect(errors).to.have.length(1);
        expect(errors[0]).to.include(`The data directory ${directory} is lost`).and.include('start the program again');
      } finally {
        restoreLog();
        await rename(`${directory}-moved`, directory);
      }
    });

    it('exits soon after the loss even if it cannot be closed', async () => {
      const exit = sinon.stub<[number]>();
      await new Promise<void>((resolve) => {
        exit.callsFake(() => resolve());
        exitOnLoss({ host: { lost: Promise.resolve() }, close: () => new Promise(() => undefined) }, { exit });
      });
      expect(exit.args).to.deep.equal([[1]]);
    });

    it('refuses an invalid tool before it opens anything', async () => {
      const error = await failure(start({ tools: [double, double], dashboard: false }));
      expect(error).to.have.property('message', 'A tool named "double" is already registered.');
      await start({ dashboard: false });
    });

    it('explains a dashboard that cannot be read, and closes what it had opened', async () => {
      const error = await failure(start({}));
      expect(error).to.include({ code: 'invalid-request', path: 'dashboard' });
      expect(error).to.have.property('message').that.includes('dashboard: false');
      await start({ dashboard: false });
    });
  }),
);
