/** The setting of the origins whose pages may call the API. */
import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { readSettings } from '../../../../imports/host/settings/defineSettings';
import { hostSettings } from '../../../../imports/host/settings/host';

const read = (value: string): readonly string[] | undefined =>
  readSettings(hostSettings, (name) => (name === 'CORS_ORIGINS' ? value : undefined)).corsOrigins;

describe('CORS_ORIGINS', () => {
  it('may be empty', () => {
    expect(read(' , ')).to.deep.equal([]);
  });

  it('reads exact origins, in the form that browsers send', () => {
    expect(read('https://App.Example.com, http://localhost:5173,http://[::1]:8080,app://obsidian.md')).to.deep.equal([
      'https://app.example.com',
      'http://localhost:5173',
      'http://[::1]:8080',
      'app://obsidian.md',
    ]);
  });

  for (const [value, reason] of [
    ['*', 'wildcards are not accepted'],
    ['https://*.example.com', 'wildcards are not accepted'],
    ['null', 'is not an origin'],
    ['app.example.com', 'is not an origin'],
    ['https://app.example.com/', 'is not an origin'],
    ['https://app.example.com/page', 'is not an origin'],
    ['https://ann@app.example.com', 'is not an origin'],
    ['https://app.example.com:70000', 'is not an origin'],
    ['https://app.example.com:443', 'browsers send this origin as "https://app.example.com"'],
    ['https://bücher.example', 'browsers send this origin as "https://xn--bcher-kva.example"'],
  ] as const)
    it(`refuses ${value}`, () => {
      expect(() => read(`https://app.example.com,${value}`))
        .to.throw(LLMInvalidRequestError, reason)
        .with.property('path', 'CORS_ORIGINS');
    });

  it('names every invalid origin', () => {
    expect(() => read('*,null')).to.throw(/2 settings are invalid:\n- .*"\*".*\n- .*"null"/);
  });
});
