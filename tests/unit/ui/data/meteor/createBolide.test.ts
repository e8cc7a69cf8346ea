/** The methods as functions. */
import { expect } from 'chai';
import { OPERATIONS } from '../../../../../imports/host/operations';
import { createBolide } from '../../../../../imports/ui/data/meteor/createBolide';
import { METHOD_TABLE } from '../../../../../imports/ui/data/meteor/methodTable';
import { methodTable } from '../../../../../scripts/generate/methodTable';
import { failure } from '../../../../support/failure';

interface Sent {
  readonly name: string;
  readonly argument: { readonly requestId?: string };
  readonly noRetry: boolean;
}

describe('createBolide', () => {
  const sent: Sent[] = [];
  let error: Error | undefined;
  const bolide = createBolide({
    // The rest of it is not used.
    Meteor: {
      applyAsync: async (name: string, [argument = {}]: readonly object[], options: { noRetry: boolean }) => {
        sent.push({ name, argument, noRetry: options.noRetry });
        if (error !== undefined) throw error;
      },
    } as never,
  });
  beforeEach(() => {
    sent.length = 0;
    error = undefined;
  });

  it('has every method', () => {
    expect(METHOD_TABLE, 'run npm run generate').to.deep.equal(methodTable(OPERATIONS));
    const names = Object.entries(bolide).flatMap(([group, methods]) =>
      Object.keys(methods).map((name) => `ai.${group}.${name}`),
    );
    expect(names).to.have.members(OPERATIONS.map(({ name }) => name));
  });

  it('gives each request an id of its own, unless it has one, so that Meteor may send it again', async () => {
    await bolide.runs.start({ providerId: 'openai', input: 'Hi' });
    await bolide.runs.start({ providerId: 'openai', input: 'Hi' });
    await bolide.llm.generateText({ requestId: 'mine', providerId: 'openai', input: 'Hi' });
    const ids = sent.map(({ argument }) => argument.requestId ?? '');
    expect(new Set(ids).size).to.equal(3);
    expect(ids[0]).to.match(/^[0-9a-f]{32}$/);
    expect(ids[2]).to.equal('mine');
    expect(sent.map(({ noRetry }) => noRetry)).to.deep.equal([false, false, false]);
  });

  it('lets Meteor send questions again, and nothing that changes something', async () => {
    await bolide.runs.list();
    await bolide.tokens.create({ name: 'laptop' });
    expect(sent).to.deep.equal([
      { name: 'ai.runs.list', argument: {}, noRetry: false },
      { name: 'ai.tokens.create', argument: { name: 'laptop' }, noRetry: true },
    ]);
  });

  it('rejects with the code of the server', async () => {
    error = Object.assign(new Error('x'), { error: 'permission-denied', reason: 'Not you.' });
    expect(await failure(bolide.providers.list())).to.include({ code: 'permission-denied', message: 'Not you.' });
    expect(sent).to.have.length(1);
  });
});
