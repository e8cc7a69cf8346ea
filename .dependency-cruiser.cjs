/** The dependency rule: domain ← application ← infrastructure ← doors. Type-only imports count. */
const AI = '^imports/business/ai/';
const PROVIDERS = '^imports/business/providers/';
/** Every folder with code of this repository. */
const OURS = '^(imports|server|client|tests|scripts|examples|bench)/';
const METEOR_FILES =
  '(imports/business/ai/(methods|publications)[.]ts|imports/business/providers/(methods|publications)[.]ts|/persistence/Meteor[^/]*|/tools/MethodTools[.]ts|^imports/startup/meteor|^server/main[.]ts|^examples/meteor/|^client/|^imports/ui/.*Meteor[^/]*|^tests/)';

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
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
      to: { path: OURS, pathNot: `${AI}(domain|application)/` },
    },
    {
      name: 'infrastructure-sees-application-in-factories-only',
      severity: 'error',
      from: { path: `${AI}infrastructure/`, pathNot: `${AI}infrastructure/factories/` },
      to: { path: `${AI}application/` },
    },
    {
      name: 'module-sees-itself-only',
      severity: 'error',
      from: { path: '^imports/business/ai/' },
      to: { path: OURS, pathNot: '^(imports/business/ai|tests/stubs/meteor)/' },
    },
    {
      name: 'converters-see-domain-only',
      severity: 'error',
      from: { path: `${AI}infrastructure/converters/` },
      to: { path: '^imports/', pathNot: `${AI}(domain|infrastructure/converters)/` },
    },
    {
      name: 'converters-import-sdk-types-only',
      severity: 'error',
      from: { path: `${AI}infrastructure/converters/` },
      to: { path: 'node_modules', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'providers-never-see-each-other',
      severity: 'error',
      from: { path: `${AI}infrastructure/providers/([^/]+)Provider[.]ts$` },
      to: {
        path: `${AI}infrastructure/providers/[^/]+Provider[.]ts$`,
        pathNot: `${AI}infrastructure/providers/(BaseLLM|OpenAICompatible)Provider[.]ts$`,
      },
    },
    {
      name: 'providers-domain-sees-domains',
      severity: 'error',
      from: { path: `${PROVIDERS}domain/` },
      to: { pathNot: `(${PROVIDERS}|${AI})domain/` },
    },
    {
      name: 'providers-application-sees-domains',
      severity: 'error',
      from: { path: `${PROVIDERS}application/` },
      to: { path: OURS, pathNot: `(${PROVIDERS}(domain|application)|${AI}domain)/` },
    },
    {
      name: 'providers-infrastructure-sees-application-in-factories-only',
      severity: 'error',
      from: { path: `${PROVIDERS}infrastructure/`, pathNot: `${PROVIDERS}infrastructure/factories/` },
      to: { path: `${PROVIDERS}application/` },
    },
    {
      name: 'providers-see-of-the-ai-module-domain-and-clients',
      severity: 'error',
      from: { path: PROVIDERS },
      to: {
        path: OURS,
        pathNot: `(${PROVIDERS}|${AI}(domain|infrastructure/(clients|persistence))/|^tests/stubs/meteor/)`,
      },
    },
    {
      name: 'ui-sees-domain',
      severity: 'error',
      from: { path: '^imports/ui/' },
      to: { path: '^imports/', pathNot: '^imports/(ui|business/[^/]+/domain)/' },
    },
    {
      name: 'meteor-at-the-door',
      severity: 'error',
      from: { path: OURS, pathNot: METEOR_FILES },
      to: { path: '(^meteor/|tests/stubs/meteor)' },
    },
    {
      name: 'product-sees-no-tests',
      severity: 'error',
      from: { path: '^(imports|client)/' },
      to: { path: '^tests/', pathNot: '^tests/stubs/meteor/' },
    },
    {
      name: 'nothing-sees-the-examples',
      severity: 'error',
      from: { pathNot: '^(examples|tests)/' },
      to: { path: '^examples/' },
    },
    // The benchmark's peers are installed only where it is run.
    {
      name: 'resolvable',
      severity: 'error',
      from: { pathNot: '^bench/contenders/[^/]+[.]mjs$' },
      to: { couldNotResolve: true, pathNot: '^meteor/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.node.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'] },
  },
};
