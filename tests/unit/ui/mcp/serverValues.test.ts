/** The form of an MCP server. */
import { expect } from 'chai';
import type { McpServerView } from '../../../../imports/business/mcp/domain/McpViews';
import { fieldsOfServer, valuesOf } from '../../../../imports/ui/mcp/serverValues';

const STORED: McpServerView = {
  name: 'docs',
  source: 'dashboard',
  url: 'https://mcp.example.com',
  enabled: false,
  headerNames: ['authorization'],
  envNames: [],
  timeout: 5_000,
  deny: ['delete*'],
  deferLoading: false,
  counts: { approved: 0, new: 0, changed: 0, missing: 0, offered: 0 },
};

describe('the form of an MCP server', () => {
  it('keeps what it does not show, and secrets that are not entered anew', () => {
    expect(fieldsOfServer(valuesOf(STORED), STORED)).to.deep.equal({
      ...{ name: 'docs', url: 'https://mcp.example.com', enabled: false, timeout: 5_000, deny: ['delete*'] },
      deferLoading: false,
    });
  });

  it('sends secrets that are entered, or that there are none any more', () => {
    const values = valuesOf(STORED);
    const entered = { ...values, secrets: 'Authorization: Bearer a:b\n\n x-key:1' };
    expect(fieldsOfServer(entered, STORED).headers).to.deep.equal({ Authorization: 'Bearer a:b', 'x-key': '1' });
    expect(fieldsOfServer({ ...values, clearsSecrets: true }, STORED).headers).to.deep.equal({});
  });

  it('lets vendors call a server, and hands them headers, where the form says so', () => {
    const values = { ...valuesOf({ ...STORED, hosted: true, shareHeaders: true }) };
    expect(fieldsOfServer(values, STORED)).to.include({ hosted: true, shareHeaders: true });
    expect(fieldsOfServer({ ...values, hosted: false }, STORED)).not.to.have.any.keys('hosted', 'shareHeaders');
    expect(fieldsOfServer({ ...values, kind: 'command' }, STORED)).not.to.have.any.keys('hosted', 'shareHeaders');
  });

  it('sends a program with its arguments and variables, and no URL', () => {
    const values = { ...valuesOf(undefined), name: 'fs', kind: 'command', url: 'x', command: 'npx' } as const;
    expect(fieldsOfServer({ ...values, args: '-y\nserver', secrets: 'KEY=a=b' }, undefined)).to.deep.equal({
      ...{ name: 'fs', command: 'npx', args: ['-y', 'server'], env: { KEY: 'a=b' }, enabled: true },
    });
  });
});
