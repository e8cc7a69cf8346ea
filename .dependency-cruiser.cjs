/**
 * The dependency rules. domain ← application ← infrastructure ← API, UI and host; type-only imports count.
 * tests/unit/codeRules.test.ts plants one violation of each.
 */
const AI = '^imports/business/ai/';
const SERVICES = `${AI}application/services/`;
const INFRASTRUCTURE = `${AI}infrastructure/`;
/** The folders of features, which are built alike. */
const FEATURE = '^imports/business/(?!ai/|providers/)([^/]+)/';
/** What composes the AI module, decorated by features. */
const COMPOSITION = `(${INFRASTRUCTURE}factories/|${AI}(feature|publications)[.]ts$)`;
/** What the value of a feature is made of. */
const FEATURE_VALUE = '^imports/host/Feature[.]ts$';
const PROVIDERS = '^imports/business/providers/';
const DATABASE = '^imports/database/';
/** The default logger, which every layer but domains may use. */
const LOG = '^imports/log/';
/** What a definition of an operation consists of. */
const DEFINITIONS = '^imports/host/(AuditRule|auditedText|bindOperations|defineOperation|schemas)[.]ts$';
/** What derives routes and descriptions from definitions. */
const READ_DEFINITIONS = '^imports/host/(argumentFields|describeSchema)[.]ts$';
/** Every folder with code of this repository. */
const OURS = '^(imports|packages|server|client|tests|scripts|examples|bench)/';
/** tsconfig.node.json maps `meteor/*` to these stubs, so in plain Node they stand for Meteor's own packages. */
const METEOR_STUBS = '^tests/stubs/meteor/';
/** An app's own files, which hand Meteor's objects in. */
const METEOR_FILES = '^(server/main[.]ts$|client/|packages/|examples/(meteor|clients/blaze)/|tests/)';

/** Layers of infrastructure/, each with what it may import of the others. */
const LAYERS = {
  vendors: [],
  clients: [],
  converters: [],
  events: [],
  jobs: [],
  tools: ['clients'],
  persistence: [],
  telemetry: [],
  streaming: ['converters', 'vendors'],
  providers: ['clients', 'converters', 'streaming', 'vendors'],
};

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-barrels',
      severity: 'error',
      from: { path: OURS },
      to: { path: '(^|/)index[.]tsx?$', pathNot: '^imports/entries/' },
    },
    {
      name: 'domain-sees-only-domain',
      severity: 'error',
      from: { path: `${AI}domain/` },
      to: { pathNot: `${AI}domain/` },
    },
    {
      name: 'application-sees-domain',
      severity: 'error',
      from: { path: `${AI}application/` },
      to: { path: OURS, pathNot: `${AI}(domain|application)/|${LOG}|${DEFINITIONS}` },
    },
    {
      name: 'application-does-no-io',
      comment: 'Databases, networks and files are behind ports. What is listed here computes.',
      severity: 'error',
      from: { path: '^imports/business/(?!providers/)[^/]+/application/' },
      to: {
        pathNot: [
          '^(imports|tests)/',
          '^(node:)?(async_hooks|crypto|events|perf_hooks|vm|worker_threads)$',
          'node_modules/(@valibot/to-json-schema|ajv|ajv-formats|eventemitter3|lru-cache|minisearch|p-limit|simpl-schema|valibot|zod-to-json-schema)/',
        ],
      },
    },
    {
      name: 'services-face',
      comment:
        'The files at the root of application/services, and shared, are its public face; folders hold their parts.',
      severity: 'error',
      from: {
        path: OURS,
        pathNot: [
          `${AI}application/`,
          `${INFRASTRUCTURE}factories/`,
          FEATURE,
          '^(tests|scripts|imports/(entries|library))/',
        ],
      },
      to: { path: `${SERVICES}[^/]+/`, pathNot: `${SERVICES}shared/` },
    },
    {
      name: 'features-see-the-face-of-services',
      comment: 'And what decorators of providers, batches and tools are built of.',
      severity: 'error',
      from: { path: FEATURE },
      to: {
        path: `${SERVICES}[^/]+/`,
        pathNot: `${SERVICES}((batches|chains|routing|shared)/|schema/checkSchema[.]ts$)`,
      },
    },
    {
      name: 'features-never-see-each-other',
      comment:
        'What two of them share is a port of the AI module. MCP servers are signed in at like vendors; usage reports add ' +
        'up the log of model calls.',
      severity: 'error',
      from: { path: FEATURE, pathNot: '^imports/business/usage/feature[.]ts$' },
      to: {
        path: '^imports/business/',
        pathNot:
          '^imports/business/($1|ai|providers/(domain|application/oauth|infrastructure/(oauth|sealing|system)))/',
      },
    },
    {
      name: 'feature-domains-see-domains',
      severity: 'error',
      from: { path: `${FEATURE}domain/` },
      to: { pathNot: `^imports/business/$1/domain/|${AI}domain/` },
    },
    {
      name: 'feature-applications-see-applications',
      severity: 'error',
      from: { path: `${FEATURE}application/` },
      to: {
        path: OURS,
        pathNot: `^imports/business/$1/(domain|application)/|${AI}(domain|application)/|${LOG}|${DEFINITIONS}`,
      },
    },
    {
      name: 'feature-infrastructures-see-no-application',
      comment: 'The files at the root of a feature construct it.',
      severity: 'error',
      from: { path: `${FEATURE}infrastructure/` },
      to: { path: '^imports/business/[^/]+/application/' },
    },
    {
      name: 'features-see-no-host',
      comment: 'The host opens features with what they need.',
      severity: 'error',
      from: { path: FEATURE },
      to: {
        path: '^imports/(entries|host|library|ui)/',
        pathNot: `${DEFINITIONS}|${READ_DEFINITIONS}|${FEATURE_VALUE}|^imports/host/settings/`,
      },
    },
    {
      name: 'infrastructure-sees-application-in-factories-only',
      severity: 'error',
      from: { path: INFRASTRUCTURE, pathNot: `${INFRASTRUCTURE}factories/` },
      // The hash needs node:crypto, which the domain may not use: browsers load it.
      to: { path: `${AI}application/`, pathNot: `${AI}application/services/shared/argumentsHash\\.ts$` },
    },
    ...Object.entries(LAYERS).map(([layer, below]) => ({
      name: `infrastructure-layers-${layer}`,
      severity: 'error',
      from: { path: `${INFRASTRUCTURE}${layer}/` },
      to: { path: `${INFRASTRUCTURE}[^/]+/`, pathNot: `${INFRASTRUCTURE}(${[layer, ...below].join('|')})/` },
    })),
    {
      name: 'module-sees-itself-and-the-database-only',
      severity: 'error',
      from: { path: AI, pathNot: COMPOSITION },
      to: { path: OURS, pathNot: `${AI}|${DATABASE}|${LOG}|${DEFINITIONS}` },
    },
    {
      name: 'composition-of-the-module-sees-business',
      severity: 'error',
      from: { path: COMPOSITION },
      to: { path: OURS, pathNot: `^imports/business/|${DATABASE}|${LOG}|${DEFINITIONS}|${FEATURE_VALUE}` },
    },
    {
      name: 'database-sees-domain',
      comment: 'Collections know nothing of what is stored in them.',
      severity: 'error',
      from: { path: DATABASE },
      to: { path: OURS, pathNot: `${DATABASE}|${LOG}|${AI}domain/` },
    },
    {
      name: 'log-sees-domain',
      comment: 'The default logger reads the environment and writes to the console, which domains do not.',
      severity: 'error',
      from: { path: LOG },
      to: { path: OURS, pathNot: `${LOG}|${AI}domain/` },
    },
    {
      name: 'converters-are-pure',
      comment: 'No files, sockets or clocks. Lint refuses the globals that do the same.',
      severity: 'error',
      from: { path: `${INFRASTRUCTURE}converters/` },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'converters-import-sdk-types-only',
      severity: 'error',
      from: { path: `${INFRASTRUCTURE}converters/` },
      to: { path: 'node_modules', pathNot: 'node_modules/lru-cache/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'providers-never-see-each-other',
      severity: 'error',
      from: { path: `${INFRASTRUCTURE}providers/([^/]+)Provider[.]ts$` },
      to: {
        path: `${INFRASTRUCTURE}providers/[^/]+Provider[.]ts$`,
        pathNot: `${INFRASTRUCTURE}providers/(BaseLLM|OpenAICompatible)Provider[.]ts$`,
      },
    },
    {
      name: 'provider-system-domain-sees-domains',
      severity: 'error',
      from: { path: `${PROVIDERS}domain/` },
      to: { pathNot: `(${PROVIDERS}|${AI})domain/` },
    },
    {
      name: 'provider-system-application-sees-domains',
      severity: 'error',
      from: { path: `${PROVIDERS}application/` },
      to: { path: OURS, pathNot: `(${PROVIDERS}(domain|application)|${AI}domain)/|${DEFINITIONS}` },
    },
    {
      name: 'provider-system-infrastructure-sees-application-in-factories-only',
      severity: 'error',
      from: { path: `${PROVIDERS}infrastructure/`, pathNot: `${PROVIDERS}infrastructure/factories/` },
      to: { path: `${PROVIDERS}application/` },
    },
    {
      name: 'provider-system-sees-domain-and-clients-of-the-ai-module',
      severity: 'error',
      from: { path: PROVIDERS },
      to: {
        path: OURS,
        pathNot: `${PROVIDERS}|${DATABASE}|${LOG}|${AI}(domain|infrastructure/clients)/|${DEFINITIONS}|${FEATURE_VALUE}`,
      },
    },
    {
      name: 'library-sees-business-and-settings',
      comment: 'The API for code: it composes the AI module, and reads the same settings as the hosts.',
      severity: 'error',
      from: { path: '^imports/library/' },
      to: { path: OURS, pathNot: '^imports/(library|business|database|log|host/settings)/' },
    },
    {
      name: 'definitions-see-domain',
      comment: 'Every feature defines operations, so a definition depends on none.',
      severity: 'error',
      from: { path: DEFINITIONS },
      to: { path: OURS, pathNot: `${DEFINITIONS}|${AI}domain/` },
    },
    {
      name: 'api-sees-no-host',
      comment: 'The HTTP API is the same on every host, which composes it.',
      severity: 'error',
      from: { path: '^imports/api/' },
      to: {
        path: '^(imports/(host|ui)|server|client)/',
        pathNot: `${DEFINITIONS}|${READ_DEFINITIONS}|${FEATURE_VALUE}`,
      },
    },
    {
      name: 'interop-sees-business-and-library',
      comment: "Other frameworks' protocols are written and read without a host.",
      severity: 'error',
      from: { path: '^imports/interop/' },
      to: { path: OURS, pathNot: '^imports/(interop|business|library)/' },
    },
    {
      name: 'ui-sees-domain',
      severity: 'error',
      from: { path: '^imports/ui/' },
      to: { path: '^(imports|server)/', pathNot: '^imports/((ui|business/[^/]+/domain)/|host/operations[.]ts$)' },
    },
    {
      name: 'ui-sees-types-of-operations-only',
      severity: 'error',
      from: { path: '^imports/ui/' },
      to: { path: '^imports/host/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'simulator-sees-domain',
      comment: 'The simulator judges what converters write, so it shares nothing with them but the domain.',
      severity: 'error',
      from: { path: '^imports/simulator/' },
      to: { path: OURS, pathNot: `(^imports/simulator|${AI}domain)/` },
    },
    {
      name: 'meteor-in-its-files-only',
      comment: 'Nothing in a package under node_modules can import meteor/*: apps hand the objects in.',
      severity: 'error',
      from: { path: OURS, pathNot: METEOR_FILES },
      to: { path: `(^meteor/|${METEOR_STUBS})` },
    },
    {
      name: 'product-sees-no-tests',
      comment: 'The costs under Meteor are counted on the stubs, and scripts run the tests.',
      severity: 'error',
      from: {
        path: '^(imports|packages|client|server|scripts|examples|bench)/',
        pathNot: '^(bench/(compaction|meteorObservers|mcpTools/serve)[.]ts|scripts/test(Mutants|Mutation)?[.]cjs)$',
      },
      to: { path: '^tests/', pathNot: METEOR_STUBS },
    },
    {
      name: 'testing-sees-domain',
      severity: 'error',
      from: { path: '^imports/testing/' },
      to: { path: OURS, pathNot: `(^imports/testing|${AI}domain)/` },
    },
    {
      name: 'product-sees-no-testing',
      comment: 'Apps test with it; it is exported by an entry of its own.',
      severity: 'error',
      from: { path: '^(imports|client|server|scripts)/', pathNot: '^imports/(testing|entries)/' },
      to: { path: '^imports/testing/' },
    },
    {
      name: 'nothing-sees-the-entries',
      comment: "The npm package's entries re-export; code imports the file that defines what it needs.",
      severity: 'error',
      from: { path: '^imports/', pathNot: '^imports/entries/' },
      to: { path: '^imports/entries/' },
    },
    {
      name: 'nothing-sees-the-examples',
      severity: 'error',
      from: { pathNot: '^(examples|tests)/' },
      to: { path: '^examples/' },
    },
    {
      name: 'resolvable',
      comment: 'The packages that the benchmark compares with, and Rspack, are installed only where they are run.',
      severity: 'error',
      from: { pathNot: '^(bench/contenders/[^/]+[.]mjs|tests/support/meteorBuild/rspackChild[.]cjs)$' },
      to: { couldNotResolve: true, pathNot: '^meteor/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^build/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.node.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
