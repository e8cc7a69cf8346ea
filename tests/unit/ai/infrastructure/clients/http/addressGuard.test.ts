import { expect } from 'chai';
import fc from 'fast-check';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, LookupFunction, Server } from 'node:net';
import { LLMInvalidRequestError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { DEFAULT_TRANSPORT_LIMITS as limits } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import {
  parseAllowedUrl,
  isPublicAddress,
} from '../../../../../../imports/business/ai/infrastructure/clients/http/addressGuard';
import type { PrivateHosts } from '../../../../../../imports/business/ai/infrastructure/clients/http/privateHosts';
import { createGuardedFetch } from '../../../../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import { failure } from '../../../../../support/failure';

/** This machine, in every notation that a URL parser or a resolver accepts. */
const THIS_MACHINE: readonly string[] = [
  'localhost',
  'LOCALHOST',
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.1.2.3',
  '2130706433',
  '2130706433.',
  '0x7f000001',
  '0x7F.0.0.1',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '0177.0x0.0.01',
  '00000177.0.0.1',
  '127.0.0.0x1',
  '%31%32%37.0.0.1',
  '１２７．０．０．１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '0x0',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::FFFF:0:0]',
];

/** Other addresses that must not be reached. */
const ELSEWHERE: readonly string[] = [
  'localhost.',
  'app.localhost',
  'printer.local',
  'metadata.google.internal',
  'router.lan',
  'nas.home.arpa',
  'intranet',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '3232235777',
  '0xC0A80101',
  '169.254.169.254',
  '169.254.169.254.',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '168.63.129.16',
  '100.64.0.1',
  '100.100.100.200',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[::ffff:169.254.169.254]',
  '[::ffff:8.8.8.8]',
  '[::127.0.0.1]',
  '[::a9fe:a9fe]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::a00:1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[100::1]',
  '[5f00::1]',
  '[4000::1]',
];

describe('the guard of addresses', () => {
  let server: Server;
  let connections = 0;

  before(async () => {
    server = createServer((socket) => {
      connections += 1;
      socket.resetAndDestroy();
    });
    server.listen(0, '::');
    await once(server, 'listening');
  });
  after(async () => {
    server.close();
    await once(server, 'close');
  });
  beforeEach(() => {
    connections = 0;
  });

  async function visit(url: string, allowPrivateHosts: PrivateHosts, lookup?: LookupFunction): Promise<unknown> {
    const fetch = createGuardedFetch({ limits, allowPrivateHosts, ...(lookup === undefined ? {} : { lookup }) });
    try {
      return await failure(fetch(url));
    } finally {
      fetch.close();
    }
  }

  const port = (): number => (server.address() as AddressInfo).port;

  for (const host of THIS_MACHINE) {
    it(`rejects ${host}, which the same request reaches without the guard`, async () => {
      const url = `https://${host}:${port()}/`;
      const refused = await visit(url, false);
      expect(refused).to.be.instanceOf(LLMInvalidRequestError).and.include({ retryable: false });
      expect(connections).to.equal(0);
      await visit(url, true);
      expect(connections).to.be.at.least(1);
    });
  }

  for (const host of ELSEWHERE) {
    it(`rejects ${host}`, async () => {
      expect(await visit(`https://${host}/`, false)).to.be.instanceOf(LLMInvalidRequestError);
      expect(() => parseAllowedUrl(`https://${host}/`, true)).to.not.throw();
    });
  }

  describe('with a list of hosts', () => {
    const HOSTS = ['localhost', 'Ollama.lan', '10.1.0.0/16', '192.168.1.7', 'fd00:1::/32'];
    const resolvingTo =
      (...addresses: readonly string[]): LookupFunction =>
      (_hostname, _options, callback) =>
        callback(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        );

    for (const host of ['localhost', 'LOCALHOST.', 'ollama.LAN', '10.1.2.3', '167837699', '192.168.1.7', '[fd00:1::9]'])
      for (const scheme of ['http', 'https'])
        it(`permits ${host} over ${scheme}`, () => {
          expect(() => parseAllowedUrl(`${scheme}://${host}/`, HOSTS)).to.not.throw();
        });

    for (const host of [
      ...THIS_MACHINE.filter((each) => !/localhost/i.test(each)),
      'app.localhost',
      'notlocalhost',
      'evil-ollama.lan',
      'ollama.lan.local',
      '10.2.0.1',
      '192.168.1.8',
      '[::ffff:10.1.0.1]',
      '[fd00:2::9]',
      '169.254.169.254',
    ])
      it(`refuses ${host}`, () => {
        expect(() => parseAllowedUrl(`https://${host}/`, HOSTS)).to.throw(LLMInvalidRequestError);
      });

    it('permits plain http to listed hosts only', () => {
      expect(() => parseAllowedUrl('http://api.openai.com/', HOSTS)).to.throw('must start with https:');
    });

    it('reaches a listed name wherever it is, and others in listed networks only', async () => {
      const reaches = async (host: string, ...addresses: readonly string[]): Promise<boolean> => {
        connections = 0;
        const refused = await visit(
          `https://${host}:${port()}/`,
          ['here.lan', '127.0.0.0/8'],
          resolvingTo(...addresses),
        );
        return !(refused instanceof LLMInvalidRequestError) && connections > 0;
      };
      expect(await reaches('here.lan', '127.0.0.1')).to.equal(true);
      expect(await reaches('rebound.example.com', '127.0.0.1')).to.equal(true);
      expect(await reaches('rebound.example.com', '127.0.0.1', '10.0.0.1')).to.equal(false);
      expect(await reaches('rebound.example.com', '::1')).to.equal(false);
      expect(await reaches('there.lan', '127.0.0.1')).to.equal(false);
    });
  });

  it('accepts public hosts and addresses', () => {
    for (const host of [
      'api.openai.com',
      'xn--bcher-kva.example',
      '8.8.8.8',
      '134744072',
      '172.15.0.1',
      '172.32.0.1',
      '[2606:4700:4700::1111]',
      'localhost.example.com',
      '1.1.1.1.',
    ]) {
      expect(() => parseAllowedUrl(`https://${host}/`, false), host).to.not.throw();
    }
  });

  it('requires https, and no credentials in the URL', () => {
    for (const url of [
      'http://api.openai.com/',
      'ftp://api.openai.com/',
      'file:///etc/passwd',
      'data:text/plain,x',
      'https://user:pass@api.openai.com/',
      'https://user@api.openai.com/',
      'nonsense',
    ]) {
      expect(() => parseAllowedUrl(url, false), url).to.throw(LLMInvalidRequestError);
    }
    expect(() => parseAllowedUrl('http://api.openai.com/', true)).to.not.throw();
  });

  describe('for host names', () => {
    const answers = (...sequence: (readonly string[])[]): { lookup: LookupFunction; asked: string[] } => {
      const asked: string[] = [];
      const lookup: LookupFunction = (name, options, callback) => {
        const addresses = sequence[Math.min(asked.length, sequence.length - 1)] ?? [];
        asked.push(name);
        const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        if (options.all === true) callback(null, all);
        else callback(null, all[0]?.address ?? '', all[0]?.family ?? 4);
      };
      return { lookup, asked };
    };

    for (const addresses of [
      ['127.0.0.1'],
      ['::1'],
      ['::ffff:127.0.0.1'],
      ['93.184.216.34', '127.0.0.1'],
      ['0.0.0.0'],
      [],
    ]) {
      it(`rejects a name that resolves to ${addresses.join(' and ') || 'nothing'}`, async () => {
        const url = `https://images.example.com:${port()}/`;
        const refused = await visit(url, false, answers(addresses).lookup);
        expect(refused).to.be.instanceOf(LLMInvalidRequestError);
        expect((refused as Error).message).to.equal('"images.example.com" is not a public address.');
        expect(connections).to.equal(0);
        if (addresses.length === 1) {
          await visit(url, true, answers(addresses).lookup);
          expect(connections).to.equal(1);
        }
      });
    }

    it('resolves a name once, and checks the address that it connects to', async () => {
      const { lookup, asked } = answers(['127.0.0.1'], ['93.184.216.34']);
      expect(await visit(`https://rebinding.example.com:${port()}/`, false, lookup)).to.be.instanceOf(
        LLMInvalidRequestError,
      );
      expect(asked).to.deep.equal(['rebinding.example.com']);
    });
  });

  it('treats no private IPv4 address as public, in any notation', () => {
    const octet = fc.nat(255);
    const privately = fc.oneof(
      fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
      fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
      fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
      fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
      fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
    );
    fc.assert(
      fc.property(
        privately,
        fc.constantFrom('decimal', 'hex', 'octal', 'number', 'mapped', 'nat64', '6to4'),
        (octets, notation) => {
          const hex = octets.map((each) => each.toString(16).padStart(2, '0'));
          const pairs = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`;
          const spelled = {
            decimal: octets.join('.'),
            hex: octets.map((each) => `0x${each.toString(16)}`).join('.'),
            octal: octets.map((each) => `0${each.toString(8)}`).join('.'),
            number: String(octets.reduce((sum, each) => sum * 256 + each, 0)),
            mapped: `[::ffff:${pairs}]`,
            nat64: `[64:ff9b::${pairs}]`,
            '6to4': `[2002:${pairs}::1]`,
          }[notation];
          expect(() => parseAllowedUrl(`https://${spelled}/`, false), spelled).to.throw(LLMInvalidRequestError);
          expect(isPublicAddress(octets.join('.'))).to.equal(false);
        },
      ),
      { numRuns: 300 },
    );
  });
});
