import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { expect } from 'chai';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { startServer } from '../../../../imports/host/node/startServer';
import type { RunningServer, ServerOptions } from '../../../../imports/host/node/startServer';
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
