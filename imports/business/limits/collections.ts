/** What is stored of budgets and rate limits. */
import { keyOfWindow, WINDOWS_COLLECTION } from '../../database/FixedWindowLimiter';
import { authoredBy } from '../../database/StoredCollection';
import type { StoredCollection } from '../../database/StoredCollection';
import { BUDGET_LIMITS } from './infrastructure/DocumentBudgetLimits';
import { BUDGETS, budgetId } from './infrastructure/DocumentBudgetStore';
import { TOKEN_RATES } from './infrastructure/DocumentRateStore';
import { USER_LOADS, userLoadId } from './infrastructure/DocumentUserLoads';

const BUDGET_OWNER = { selector: (userId: string) => ({ _id: budgetId(userId) }) };

export const LIMIT_COLLECTIONS = [
  {
    name: BUDGETS,
    bound: 'small',
    content: null,
    ofUsers: [{ kind: 'budgets', owner: BUDGET_OWNER, json: ['holds', 'paid'], isLimit: true }],
  },
  {
    name: BUDGET_LIMITS,
    bound: 'operators',
    content: null,
    ofUsers: [
      authoredBy('changedBy'),
      // Who set it is somebody else.
      { kind: 'budgets', owner: BUDGET_OWNER, hidden: ['changedBy'], isLimit: true, isSmall: true },
    ],
  },
  {
    name: WINDOWS_COLLECTION,
    bound: 'small',
    content: null,
    ofUsers: [
      {
        kind: 'rateWindows',
        owner: { matches: (documentId, userId) => keyOfWindow(documentId)[1] === userId },
        isLimit: true,
        isSmall: true,
      },
    ],
  },
  {
    name: USER_LOADS,
    bound: 'small',
    content: null,
    ofUsers: [
      {
        kind: 'rateWindows',
        owner: { selector: (userId) => ({ _id: userLoadId(userId) }) },
        json: ['processes'],
        isLimit: true,
      },
    ],
  },
  // By ids of tokens.
  { name: TOKEN_RATES, bound: 'small', content: null, ofUsers: [] },
] as const satisfies readonly StoredCollection[];
