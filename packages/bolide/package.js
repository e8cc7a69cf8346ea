/* global Package */
Package.describe({
  name: 'bolide:bolide',
  version: '0.3.0',
  summary: 'Bolide, a vendor-neutral LLM layer, with the app’s Meteor handed in',
  documentation: 'README.md',
});

Package.onUse((api) => {
  // Meteor 3.1.1 and newer.
  api.use(['ecmascript@0.16.10', 'typescript@5.6.3', 'meteor@2.0.2', 'mongo@2.0.3', 'accounts-base@3.0.3']);
  api.use(['webapp@2.0.4', 'ddp@1.4.2', 'ddp-rate-limiter@1.2.2', 'check@1.4.4'], 'server');
  api.use('tracker@1.3.4', 'client');
  api.mainModule('server.ts', 'server');
  api.mainModule('client.ts', 'client');
});

Package.onTest((api) => {
  api.use(['ecmascript', 'typescript', 'meteor', 'mongo', 'accounts-base', 'accounts-password', 'check', 'random']);
  api.use(['tinytest', 'bolide:bolide']);
  api.addFiles('tests/server.js', 'server');
  api.addFiles('tests/client.js', 'client');
});
