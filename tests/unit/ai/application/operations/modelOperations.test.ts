import { expect } from 'chai';
import { MODEL_OPERATIONS } from '../../../../../imports/business/ai/application/operations/modelOperations';
import type { ProviderOfModels } from '../../../../../imports/business/ai/application/operations/offeredModels';
import type { AccessPolicy } from '../../../../../imports/business/ai/domain/interfaces/AccessPolicy';
import type { Actor } from '../../../../../imports/business/ai/domain/types/Actor';
import { capabilitiesOf } from '../../../../../imports/business/ai/infrastructure/vendors/capabilities';
import { VENDOR_ROWS } from '../../../../../imports/business/ai/infrastructure/vendors/vendors';
import { bindOperations } from '../../../../../imports/host/bindOperations';
import { failure } from '../../../../support/failure';

const ANN: Actor = { userId: 'ann', source: 'http' };

const operationsFor = (
  rows: readonly ProviderOfModels[],
  access: AccessPolicy = { decide: () => Promise.resolve({ allowed: true }) },
) =>
  bindOperations(MODEL_OPERATIONS, {
    models: {
      providers: {
        refresh: () => Promise.resolve(),
        rows: () => rows,
        get: (id) => {
          const row = rows.find((each) => each.id === id);
          return row === undefined ? undefined : { getCapabilities: (model) => capabilitiesOf(row.vendor, model) };
        },
      },
      access,
      vendorModels: (vendor) => VENDOR_ROWS[vendor],
    },
  });

const idsOf = async (rows: readonly ProviderOfModels[], access?: AccessPolicy): Promise<readonly string[]> =>
  (await operationsFor(rows, access)['ai.models.list'](ANN)).models.map(({ id }) => id);

describe('ai.models.list', () => {
  it('lists the default first, then the current models of the vendor', async () => {
    const { models } = await operationsFor([{ id: 'openai', vendor: 'openai' }])['ai.models.list'](ANN);
    expect(models[0]).to.include({
      id: 'openai/gpt-5.4-mini',
      providerId: 'openai',
      model: 'gpt-5.4-mini',
      isDefault: true,
      maxTokens: 400_000,
      supportsReasoning: true,
    });
    expect(models[0]?.price).to.include({ input: 0.75, output: 4.5 });
    expect(models.filter(({ isDefault }) => isDefault)).to.have.length(1);
    expect(models.map(({ model }) => model)).to.include.members(['gpt-6-astra', 'o3']);
    expect(new Set(models.map(({ id }) => id)).size, 'each model once').to.equal(models.length);
  });

  it('lists only the models that a provider allows, its default first', async () => {
    const row = { id: 'work', vendor: 'openai', allowedModels: ['gpt-5.4', 'gpt-5.5'] } as const;
    expect(await idsOf([{ ...row, defaultModel: 'gpt-5.5' }])).to.deep.equal(['work/gpt-5.5', 'work/gpt-5.4']);
  });

  it('marks no model as the default if the default is not allowed', async () => {
    const rows = [{ id: 'work', vendor: 'openai', allowedModels: ['gpt-5.5'], defaultModel: 'o3' }] as const;
    const { models } = await operationsFor(rows)['ai.models.list'](ANN);
    expect(models.map(({ id, isDefault }) => [id, isDefault])).to.deep.equal([['work/gpt-5.5', false]]);
  });

  it('lists the deployment of an account that has one', async () => {
    const ids = await idsOf([{ id: 'azure', vendor: 'azure_openai', deployment: 'chat-prod' }]);
    expect(ids).to.deep.equal(['azure/chat-prod']);
  });

  it('lists a provider by its own name if none of its models is known', async () => {
    expect(await idsOf([{ id: 'local', vendor: 'openai_compatible' }])).to.deep.equal(['local']);
  });

  it('leaves out providers that the user may not use', async () => {
    const rows = [
      { id: 'mine', vendor: 'groq', allowedModels: ['m'] },
      { id: 'theirs', vendor: 'groq', allowedModels: ['m'] },
    ] as const;
    const access: AccessPolicy = {
      decide: (_actor, { providerId }) =>
        Promise.resolve(providerId === 'mine' ? { allowed: true } : { allowed: false, reason: 'No.' }),
    };
    expect(await idsOf(rows, access)).to.deep.equal(['mine/m']);
  });

  it('refuses callers who are not signed in, and arguments', async () => {
    const operations = operationsFor([]);
    const anonymous = await failure(operations['ai.models.list']({ userId: '', source: 'http' }));
    expect(anonymous).to.have.property('code', 'auth-failed');
    expect(await failure(operations['ai.models.list'](ANN, { page: 1 }))).to.have.property('path', 'page');
  });
});

describe('the current models of vendors', () => {
  for (const { name, currentModels = [], defaultModel, foreignModels = [] } of Object.values(VENDOR_ROWS))
    it(`of ${name} include the default model and have limits of their own`, () => {
      if (currentModels.length > 0) expect(currentModels).to.include(defaultModel);
      const rows = [...VENDOR_ROWS[name].models, ...foreignModels];
      for (const model of currentModels)
        expect(
          rows.some(({ models }) => new RegExp(models, 'i').test(model)),
          model,
        ).to.equal(true);
    });
});
