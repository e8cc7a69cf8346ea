/** Plants one violation of every dependency rule, and sees each one refused. */
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { findViolations } from '../support/cruise.cjs';
import type { Violation } from '../support/cruise.cjs';

const ROOT = path.join(__dirname, '../..');
const AI = 'imports/business/ai';

/** [rule, importing file, imported file or package]; imported files are created as well. */
const PLANTED: readonly (readonly [rule: string, from: string, to: string])[] = [
  ['no-barrels', `${AI}/domain/entities/Tool.ts`, `${AI}/domain/types/index.ts`],
  ['domain-sees-only-domain', `${AI}/domain/types/Actor.ts`, `${AI}/application/services/RunQueue.ts`],
  ['domain-sees-only-domain', `${AI}/domain/types/Usage.ts`, 'openai'],
  ['application-sees-domain', `${AI}/application/services/LLMClient.ts`, `${AI}/infrastructure/events/ReplayBuffer.ts`],
  ['application-does-no-io', `${AI}/application/services/runs/RunLoop.ts`, 'mongodb'],
  ['application-does-no-io', `${AI}/application/services/runs/LiveRun.ts`, 'openai'],
  ['application-does-no-io', `${AI}/application/services/runs/FollowUps.ts`, 'node:fs'],
  ['services-face', 'imports/api/runs/runRoutes.ts', `${AI}/application/services/routing/RetryPolicy.ts`],
  ['services-face', 'examples/import.ts', `${AI}/application/services/structured/StructuredOutput.ts`],
  [
    'infrastructure-sees-application-in-factories-only',
    `${AI}/infrastructure/tools/ToolRegistry.ts`,
    `${AI}/application/services/ToolProcessor.ts`,
  ],
  ['infrastructure-layers-vendors', `${AI}/infrastructure/vendors/groq.ts`, `${AI}/infrastructure/converters/Wire.ts`],
  [
    'infrastructure-layers-clients',
    `${AI}/infrastructure/clients/OpenAIClient.ts`,
    `${AI}/infrastructure/persistence/runs/runDocuments.ts`,
  ],
  [
    'infrastructure-layers-clients',
    `${AI}/infrastructure/clients/GroqClient.ts`,
    `${AI}/infrastructure/providers/LlamaProvider.ts`,
  ],
  [
    'infrastructure-layers-converters',
    `${AI}/infrastructure/converters/google/GoogleConverter.ts`,
    `${AI}/infrastructure/streaming/schemes.ts`,
  ],
  [
    'infrastructure-layers-streaming',
    `${AI}/infrastructure/streaming/decodeStream.ts`,
    `${AI}/infrastructure/providers/GoogleProvider.ts`,
  ],
  [
    'infrastructure-layers-providers',
    `${AI}/infrastructure/providers/GrokProvider.ts`,
    `${AI}/infrastructure/factories/createProvider.ts`,
  ],
  [
    'infrastructure-layers-persistence',
    `${AI}/infrastructure/persistence/runs/MemoryRunStore.ts`,
    `${AI}/infrastructure/events/RunEventLog.ts`,
  ],
  [
    'infrastructure-layers-events',
    `${AI}/infrastructure/events/ConversationChannel.ts`,
    `${AI}/infrastructure/streaming/StreamSource.ts`,
  ],
  [
    'infrastructure-layers-jobs',
    `${AI}/infrastructure/jobs/LocalJobQueue.ts`,
    `${AI}/infrastructure/persistence/runs/runDocuments.ts`,
  ],
  [
    'infrastructure-layers-tools',
    `${AI}/infrastructure/tools/adapters/GeminiAdapter.ts`,
    `${AI}/infrastructure/converters/google/googleWire.ts`,
  ],
  [
    'infrastructure-layers-telemetry',
    `${AI}/infrastructure/telemetry/RunSpan.ts`,
    `${AI}/infrastructure/persistence/runs/MemoryRunStore.ts`,
  ],
  [
    'features-see-the-face-of-services',
    'imports/business/memory/openMemories.ts',
    `${AI}/application/services/runs/RunLoop.ts`,
  ],
  [
    'features-never-see-each-other',
    'imports/business/mcp/api/createMcpServerPorts.ts',
    'imports/business/audit/application/AuditTrail.ts',
  ],
  [
    'features-never-see-each-other',
    'imports/business/limits/createCallLimits.ts',
    'imports/business/providers/publications.ts',
  ],
  [
    'feature-domains-see-domains',
    'imports/business/batches/domain/UserBatch.ts',
    'imports/business/batches/application/Batches.ts',
  ],
  [
    'feature-applications-see-applications',
    'imports/business/prompts/application/Prompts.ts',
    'imports/business/prompts/infrastructure/DocumentPromptStore.ts',
  ],
  [
    'feature-infrastructures-see-no-application',
    'imports/business/limits/infrastructure/DocumentBudgetStore.ts',
    'imports/business/limits/application/Budgets.ts',
  ],
  ['features-see-no-host', 'imports/business/audit/openAudit.ts', 'imports/host/createHost.ts'],
  [
    'composition-of-the-module-sees-business',
    `${AI}/infrastructure/factories/createAIModule.ts`,
    'imports/host/createHost.ts',
  ],
  ['module-sees-itself-and-the-database-only', `${AI}/methods.ts`, 'imports/host/createHost.ts'],
  ['database-sees-domain', 'imports/database/openDatabase.ts', `${AI}/infrastructure/jobs/LocalJobQueue.ts`],
  ['log-sees-domain', 'imports/log/logWriter.ts', `${AI}/infrastructure/telemetry/logRecord.ts`],
  ['library-sees-business-and-settings', 'imports/library/Agent.ts', 'imports/host/createHost.ts'],
  ['library-sees-business-and-settings', 'imports/library/AgentRun.ts', 'imports/api/createHttpApi.ts'],
  ['converters-are-pure', `${AI}/infrastructure/converters/chat/usage.ts`, 'node:fs'],
  ['converters-import-sdk-types-only', `${AI}/infrastructure/converters/chat/annotations.ts`, 'openai'],
  [
    'providers-never-see-each-other',
    `${AI}/infrastructure/providers/AnthropicProvider.ts`,
    `${AI}/infrastructure/providers/OpenAIProvider.ts`,
  ],
  [
    'provider-system-domain-sees-domains',
    'imports/business/providers/domain/entities/Provider.ts',
    'imports/business/providers/application/UsageLimits.ts',
  ],
  [
    'provider-system-application-sees-domains',
    'imports/business/providers/application/tokens/TokenService.ts',
    'imports/business/providers/infrastructure/oauth/OAuth2Server.ts',
  ],
  [
    'provider-system-infrastructure-sees-application-in-factories-only',
    'imports/business/providers/infrastructure/sealing/KeyRing.ts',
    'imports/business/providers/application/credentials/CredentialVault.ts',
  ],
  [
    'provider-system-sees-domain-and-clients-of-the-ai-module',
    'imports/business/providers/publications.ts',
    `${AI}/application/services/LLMManager.ts`,
  ],
  ['api-sees-no-host', 'imports/api/createHttpApi.ts', 'imports/host/settings/host.ts'],
  ['api-sees-no-host', 'imports/api/routes.ts', 'imports/ui/App.ts'],
  ['interop-sees-business-and-library', 'imports/interop/RunEventEncoder.ts', 'imports/api/createHttpApi.ts'],
  ['ui-sees-domain', 'imports/ui/runs/RunPage.tsx', `${AI}/application/services/AgenticLoop.ts`],
  ['ui-sees-types-of-operations-only', 'imports/ui/data/operations.ts', 'imports/host/operations.ts'],
  ['definitions-see-domain', 'imports/host/schemas.ts', 'imports/host/operations.ts'],
  ['simulator-sees-domain', 'imports/simulator/startSimulator.ts', `${AI}/infrastructure/converters/chat/items.ts`],
  ['meteor-in-its-files-only', 'imports/api/http/createRoute.ts', 'tests/stubs/meteor/meteor.ts'],
  ['meteor-in-its-files-only', 'imports/host/meteor/startBolide.ts', 'tests/stubs/meteor/webapp.ts'],
  ['meteor-in-its-files-only', 'imports/ui/data/meteor/MeteorSource.ts', 'tests/stubs/meteor/tracker.ts'],
  ['product-sees-no-tests', 'server/bolide.ts', 'tests/support/openBrowser.ts'],
  ['product-sees-no-tests', 'scripts/report.ts', 'tests/support/until.ts'],
  ['testing-sees-domain', 'imports/testing/ScriptedProvider.ts', `${AI}/application/services/LLMManager.ts`],
  ['product-sees-no-testing', 'imports/library/Agent.ts', 'imports/testing/responses.ts'],
  ['nothing-sees-the-entries', 'imports/host/createHost.ts', 'imports/entries/node.ts'],
  ['nothing-sees-the-examples', 'server/main.ts', 'examples/chat.ts'],
  ['resolvable', 'imports/api/http/Metrics.ts', './no-such-file'],
];

/** What the rules must let pass. */
const ALLOWED: readonly (readonly [from: string, to: string])[] = [
  [`${AI}/infrastructure/factories/createManager.ts`, 'imports/business/limits/application/AccountLedger.ts'],
  [`${AI}/infrastructure/streaming/schemes.ts`, `${AI}/infrastructure/converters/Wire.ts`],
  [`${AI}/application/services/LLMManager.ts`, 'node:crypto'],
  [`${AI}/application/operations/Budgets.ts`, 'imports/host/defineOperation.ts'],
  ['imports/api/runs/runRoutes.ts', `${AI}/application/services/MessageBuilder.ts`],
  ['imports/entries/index.ts', `${AI}/application/services/schema/AnySchema.ts`],
  ['tests/contracts/entries.test.ts', 'imports/entries/index.ts'],
  ['server/main.ts', 'tests/stubs/meteor/mongo.ts'],
];

describe('the dependency rules', () => {
  let folder = '';
  let violations: readonly Violation[] = [];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'bolide-rules-'));
    for (const [, from, to] of PLANTED) await plant(from, to);
    for (const [from, to] of ALLOWED) await plant(from, to);
    // A cycle takes two files.
    await plant(`${AI}/domain/types/LLMTypes.ts`, `${AI}/domain/types/VendorTypes.ts`);
    await plant(`${AI}/domain/types/VendorTypes.ts`, `${AI}/domain/types/LLMTypes.ts`);
    await cp(path.join(ROOT, '.dependency-cruiser.cjs'), path.join(folder, '.dependency-cruiser.cjs'));
    await writeFile(path.join(folder, 'tsconfig.node.json'), '{ "compilerOptions": { "module": "Preserve" } }');
    await writeFile(path.join(folder, 'package.json'), '{}');
    await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'dir');
    const folders = ['imports', 'server', 'scripts', 'tests', 'examples'];
    violations = await findViolations(folder, folders);
  });

  after(() => rm(folder, { recursive: true }));

  async function plant(from: string, to: string): Promise<void> {
    const isFile = /^(imports|server|scripts|tests|examples)\//.test(to);
    if (isFile) await write(to, '', 'a');
    const specifier = isFile ? `./${path.relative(path.dirname(from), to)}`.replace(/[.]tsx?$/, '') : to;
    await write(from, `import '${specifier}';\n`, 'a');
  }

  async function write(file: string, text: string, flag: string): Promise<void> {
    const target = path.join(folder, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text, { flag });
  }

  function rulesBrokenBy(file: string): readonly string[] {
    return violations.filter(({ from }) => from === file).map(({ rule }) => rule.name);
  }

  for (const [rule, from, to] of PLANTED) {
    it(`${rule} refuses ${to} in ${from}`, () => {
      expect(rulesBrokenBy(from)).to.include(rule);
    });
  }

  it('no-cycles refuses two files that import each other', () => {
    expect(rulesBrokenBy(`${AI}/domain/types/LLMTypes.ts`)).to.include('no-cycles');
  });

  for (const [from, to] of ALLOWED) {
    it(`allow ${to} in ${from}`, () => {
      const planted = PLANTED.filter((violation) => violation[1] === from).map(([rule]) => rule);
      expect(rulesBrokenBy(from)).to.have.members(planted);
    });
  }

  it('are all planted here', () => {
    const { forbidden } = createRequire(__filename)('../../.dependency-cruiser.cjs') as {
      readonly forbidden: readonly { readonly name: string }[];
    };
    const planted = new Set(['no-cycles', ...PLANTED.map(([rule]) => rule)]);
    expect(forbidden.map(({ name }) => name).filter((name) => !planted.has(name))).to.deep.equal([]);
  });
});
