/**
 * Stands for every `meteor/*` package in a browser: a connected client on which nobody is signed in. It exists to load
 * and render what Meteor's compilers emit; behaviour is tested on tests/stubs and inside Meteor.
 */
const cursor = {
  fetch: () => [],
  fetchAsync: () => Promise.resolve([]),
  observe: () => ({ stop: () => undefined }),
};

export const Meteor = {
  isClient: true,
  isServer: false,
  settings: { public: {} },
  startup: (run: () => void) => run(),
  userId: () => null,
  user: () => null,
  loggingIn: () => false,
  status: () => ({ status: 'connected', connected: true, retryCount: 0 }),
  subscribe: () => ({ ready: () => true, stop: () => undefined }),
  callAsync: () => Promise.resolve(undefined),
  applyAsync: () => Promise.resolve(undefined),
};

export const Mongo = {
  Collection: class {
    find(): typeof cursor {
      return cursor;
    }
    findOne(): undefined {
      return undefined;
    }
  },
};

export const Tracker = {
  autorun: (run: () => void) => {
    run();
    return { stop: () => undefined };
  },
  nonreactive: <T>(run: () => T) => run(),
  Dependency: class {
    depend(): void {
      return;
    }
    changed(): void {
      return;
    }
  },
};

export const useTracker = <T>(run: () => T): T => run();
export const useFind = (): readonly never[] => [];
export const useSubscribe = () => () => false;
