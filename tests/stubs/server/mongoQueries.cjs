/** MongoDB's queries and updates by mingo, whose main entry copies all of its operators for each. */
'use strict';

const mingo = require('mingo');
const { Context } = require('mingo/core');
const queryOperators = require('mingo/operators/query');
const { Query } = require('mingo/query');
const { update } = require('mingo/updater');

const context = Context.init({ query: queryOperators });

/** @param {Record<string, unknown>} filter @param {object} [options] mingo's */
function compileQuery(filter, options) {
  return hasExpression(filter) ? new mingo.Query(filter, options) : new Query(filter, { ...options, context });
}

/** Expressions need the operators of aggregations. @param {unknown} value */
function hasExpression(value) {
  if (Array.isArray(value)) return value.some(hasExpression);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, part]) => name === '$expr' || (name.startsWith('$') && hasExpression(part)),
  );
}

module.exports = { compileQuery, update };
