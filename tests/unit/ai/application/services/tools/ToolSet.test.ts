import { expect } from 'chai';
import * as z from 'zod';
import {
  assertUntrustedTools,
  resolveTools,
} from '../../../../../../imports/business/ai/application/services/tools/ToolSet';
import { LLMInvalidRequestError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { LooseTool } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import { ToolRegistry } from '../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { failure } from '../../../../../support/failure';

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

describe('resolveTools', () => {
  const registry = (): ToolRegistry =>
    new ToolRegistry().register({
      name: 'report',
      description: 'registered',
      parameters: PARAMETERS,
      timeout: 60_000,
      delivery: 'silent',
      execute: () => 'done',
    });
  const definitionOf = (tool: LooseTool) => resolveTools([tool], registry()).get('report')?.definition;

  it('lets each setting beside a nested function override the executor’s definition, which supplies the others', () => {
    const needsApproval = (): boolean => true;
    const settings = {
      blocking: false,
      timeout: 5_000,
      sequential: true,
      idempotent: true,
      strict: true,
      onDuplicate: 'join',
      needsApproval,
      vendor: { openai: { from: 'caller' } },
    } as const;
    expect(definitionOf({ type: 'function', function: { name: 'report' }, ...settings })).to.deep.include({
      ...settings,
      name: 'report',
      description: 'registered',
      parameters: PARAMETERS,
      delivery: 'silent',
    });
  });

  it('prefers the fields inside of a nested function to those beside it and to the executor’s', () => {
    const tool = { type: 'function', function: { name: 'report', description: 'inside' }, description: 'beside' };
    expect(definitionOf(tool as LooseTool)).to.include({ description: 'inside' });
  });

  it('keeps the executor’s setting where a definition has undefined', () => {
    expect(definitionOf({ type: 'function', name: 'report', timeout: undefined } as unknown as LooseTool)).to.include({
      timeout: 60_000,
    });
  });

  it('converts the schema of a nested function that the executor lacks', async () => {
    const parameters = z.object({ n: z.string().transform(Number) });
    const tool = { type: 'function', function: { name: 'count', parameters } } as unknown as LooseTool;
    const count = resolveTools([tool], registry()).get('count');
    expect(count?.definition.parameters).to.have.nested.property('properties.n.type', 'string');
    expect(await count?.validate({ n: '7' }, 'ann')).to.deep.equal({ n: 7 });
  });

  it('treats null as no schema, in the flat and in the nested form', () => {
    const fields = { name: 'count', parameters: null };
    for (const tool of [
      { type: 'function', ...fields },
      { type: 'function', function: fields },
    ])
      expect(resolveTools([tool as unknown as LooseTool], registry()).get('count')?.definition).to.deep.equal({
        type: 'function',
        name: 'count',
      });
  });

  for (const [what, tool] of [
    ['whose function is null', { type: 'function', function: null }],
    ['whose function is a text', { type: 'function', function: 'report' }],
    ['that is null', null],
  ] as const)
    it(`refuses a tool ${what} by its path`, () => {
      expect(() => resolveTools([tool as unknown as LooseTool], registry()))
        .to.throw(LLMInvalidRequestError)
        .with.property('path')
        .that.matches(/^tools\[0\]/);
    });
});

describe('assertUntrustedTools', () => {
  const parameters = { type: 'object', properties: { n: { type: 'wrong' } } };

  it('refuses the invalid schema of a nested function that is untrusted', async () => {
    const tool: LooseTool = { type: 'function', function: { name: 'count', parameters }, untrusted: true };
    expect(await failure(Promise.resolve(assertUntrustedTools([tool], 'ann')))).to.be.instanceOf(
      LLMInvalidRequestError,
    );
  });
});
