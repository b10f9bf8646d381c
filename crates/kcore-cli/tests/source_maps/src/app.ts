import { Ledger } from './ledger';

interface Options {
  depth: number;
  label: string;
}

function prepare(options: Options): number {
  const ledger = new Ledger(options.label);
  return ledger.settle(options.depth);
}

const start = (label: string): number => {
  const answer = prepare({ depth: 2, label });
  return answer + 1;
};

start('first');
