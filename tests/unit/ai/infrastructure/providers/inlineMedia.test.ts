import { expect } from 'chai';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { normalizeInput } from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { LLMError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { SIMULATED_VENDORS, simulatedProvider } from '../../../../support/simulatedProviders';
import type { Simulator } from '../../../../../imports/simulator/Simulator';
import { startSimulator } from '../../../../../imports/simulator/startSimulator';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('inlineMedia', () => {
  let simulator: Simulator;
  let server: Server;
  let url: string;
  let served = 0;
  let open = 0;
  let mostOpen = 0;
  /** Answers when there are four of them. */
  const held: (() => void)[] = [];
  const google = SIMULATED_VENDORS.find(({ vendor }) => vendor === 'google')!;
  const openai = SIMULATED_VENDORS.find(({ name }) => name === 'OpenAI Responses')!;
  const chat = SIMULATED_VENDORS.find(({ name }) => name === 'OpenAI chat')!;

  before(async () => {
    simulator = await startSimulator();
    server = createServer((request, response) => {
      served += 1;
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      response.on('close', () => (open -= 1));
      const isPage = request.url?.startsWith('/page') === true;
      const isFile = request.url?.startsWith('/file') === true;
      if (request.url === '/fails') response.statusCode = 503;
      if (request.url === '/breaks') return request.socket.destroy();
      if (request.url?.startsWith('/held') === true) {
        response.setHeader('content-type', 'image/png');
        held.push(() => response.end(PNG));
        if (held.length === 4) for (const answer of held.splice(0)) answer();
        return undefined;
      }
      response.setHeader('content-type', isPage ? 'text/html' : isFile ? 'application/pdf' : 'image/png');
      if (request.url?.startsWith('/large') === true) return response.end(Buffer.alloc(400_000));
      return response.end(isPage ? '<html></html>' : isFile ? '%PDF-1.4' : PNG);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    await simulator.close();
    server.close();
  });
  beforeEach(() => {
    served = 0;
    mostOpen = 0;
  });

  const picture = (image_url: string) => [
    {
      role: 'user' as const,
      content: [
        { type: 'input_text' as const, text: 'What?' },
        { type: 'input_image' as const, image_url },
      ],
    },
  ];

  it('downloads media once per item and sends it inline to a vendor that fetches no URLs', async () => {
    const provider = simulatedProvider(simulator, google, { allowPrivateMedia: true });
    simulator.enqueue({ text: 'A pixel.' });
    await provider.generate('ann', { input: picture(`${url}/a.png`) });
    expect(JSON.stringify(simulator.requests.at(-1)?.body))
      .to.contain(PNG.toString('base64'))
      .and.not.to.contain('http://');
    expect(served).to.equal(1);
  });

  it('leaves URLs to vendors that fetch them', async () => {
    simulator.enqueue({ text: 'A pixel.' });
    await simulatedProvider(simulator, openai, { allowPrivateMedia: true }).generate('ann', {
      input: picture(`${url}/a.png`),
    });
    expect(JSON.stringify(simulator.requests.at(-1)?.body)).to.contain(`${url}/a.png`);
    expect(served).to.equal(0);
  });

  it('inlines files if the wire cannot carry file URLs', async () => {
    simulator.enqueue({ text: 'Empty.' });
    const input = [
      {
        role: 'user' as const,
        content: [
          { type: 'input_file' as const, file_url: `${url}/file/a.pdf` },
          { type: 'input_text' as const, text: 'Sum up.' },
        ],
      },
    ];
    await simulatedProvider(simulator, chat, { allowPrivateMedia: true }).generate('ann', { input });
    expect(JSON.stringify(simulator.requests.at(-1)?.body))
      .to.contain(Buffer.from('%PDF-1.4').toString('base64'))
      .and.to.contain('a.pdf');
  });

  it('never fetches private addresses, even if the provider itself has one', async () => {
    for (const target of [
      `${url}/a.png`,
      'https://127.0.0.1/a.png',
      'https://169.254.169.254/latest/meta-data',
      'https://[::ffff:7f00:1]/a.png',
    ]) {
      const error = await simulatedProvider(simulator, google)
        .generate('ann', { input: picture(target) })
        .catch((thrown: unknown) => thrown);
      expect(error, target)
        .to.be.instanceOf(LLMError)
        .and.to.include({ code: 'invalid-request', path: 'input[0].content[1]' });
    }
    expect(served).to.equal(0);
  });

  it('rejects downloads that are not media', async () => {
    const provider = simulatedProvider(simulator, google, { allowPrivateMedia: true });
    const error = await provider.generate('ann', { input: picture(`${url}/page`) }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(LLMError).and.to.have.property('code', 'invalid-request');
  });

  const pictures = (urls: readonly string[]) => [
    { role: 'user' as const, content: urls.map((image_url) => ({ type: 'input_image' as const, image_url })) },
  ];
  const generate = (urls: readonly string[], limits = {}) =>
    simulatedProvider(simulator, google, { allowPrivateMedia: true, limits })
      .generate('ann', { input: pictures(urls) })
      .catch((thrown: unknown) => thrown);

  for (const path of ['/fails', '/breaks'])
    it(`takes a failed download for the caller's fault, which is not retried: ${path}`, async () => {
      const error = await generate([`${url}${path}`]);
      expect(error)
        .to.be.instanceOf(LLMError)
        .and.to.include({ code: 'invalid-request', retryable: false, path: 'input[0].content[0]', status: undefined });
    });

  it('downloads few at a time, and each URL once', async () => {
    simulator.enqueue({ text: 'Pixels.' });
    await generate(Array.from({ length: 40 }, (_, index) => `${url}/held${index % 20}.png`));
    expect(served).to.equal(20);
    expect(mostOpen).to.equal(4);
  });

  it('bounds the bytes of all downloads together', async () => {
    const error = await generate(
      Array.from({ length: 50 }, (_, index) => `${url}/large${index}.png`),
      { maxMediaBytes: 1_000_000 },
    );
    expect(error).to.be.instanceOf(LLMError).and.to.have.property('code', 'invalid-request');
    expect((error as Error).message).to.match(/more than 1000000 bytes together/);
    expect(served).to.be.at.most(7);
  });

  it('counts a URL as often as it is named', async () => {
    const error = await generate(new Array<string>(3).fill(`${url}/large.png`), { maxMediaBytes: 1_000_000 });
    expect((error as Error).message).to.match(/more than 1000000 bytes together/);
    expect(served).to.equal(1);
  });

  it('counts what an earlier turn has downloaded', async () => {
    const provider = simulatedProvider(simulator, google, {
      allowPrivateMedia: true,
      limits: { maxMediaBytes: 1_000_000 },
    });
    const first = normalizeInput(pictures([`${url}/large1.png`, `${url}/large2.png`]));
    simulator.enqueue({ text: 'Two.' });
    await provider.generate('ann', { input: first });
    const error = await provider
      .generate('ann', { input: [...first, ...pictures([`${url}/large3.png`])] })
      .catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.match(/more than 1000000 bytes together/);
  });

  it('bounds the number of downloads', async () => {
    const error = await generate(Array.from({ length: 101 }, (_, index) => `${url}/${index}.png`));
    expect(error).to.have.property('path', 'input[0].content[100]');
    expect((error as Error).message).to.match(/more than 100 URLs/);
    expect(served).to.be.at.most(8);
  });
});
