// An idle process with handles, requests and timers of many kinds, killed from outside.
const truth = require('./truth.js');
const { execFileSync, spawn } = require('child_process');
const dgram = require('dgram');
const fs = require('fs');
const http = require('http');
const net = require('net');

class Timed {
  constructor(name) {
    this.name = name;
  }
}

const timers = [
  { call: function everyHour() {}, delay: 3600000, repeats: true, args: [new Timed('first')] },
  { call: function inAnHour() {}, delay: 3600000, repeats: false, args: ['second', 2] },
  { call: () => {}, delay: 7200000, repeats: true, args: [] },
  { call: function unreferenced() {}, delay: 1800000, repeats: false, args: [], unref: true },
];

function startTimers() {
  return timers.map(({ call, delay, repeats, args, unref }) => {
    const timer = (repeats ? setInterval : setTimeout)(call, delay, ...args);
    return unref ? timer.unref() : timer;
  });
}

async function startServers() {
  const listening = (server, ...where) => new Promise((resolve) => server.listen(...where, () => resolve(server)));
  const kept = { clients: [], accepted: [] };
  kept.tcp = await listening(net.createServer(), 0, '0.0.0.0');
  kept.pipe = await listening(net.createServer((socket) => kept.accepted.push(socket)), 'socket');
  kept.http = await listening(http.createServer(function onRequest() {}), 'socket-http');
  kept.udp = dgram.createSocket('udp4');
  await new Promise((resolve) => kept.udp.bind(0, '0.0.0.0', resolve));
  for (let at = 0; at < 3; at++) await new Promise((resolve) => kept.clients.push(net.connect('socket', resolve)));
  return kept;
}

function startOthers() {
  execFileSync('mkfifo', ['fifo']);
  // It ends by itself, long after the core is made.
  const child = spawn('sleep', ['60'], { stdio: ['pipe', 'ignore', 'ignore'] });
  process.on('SIGUSR2', function onSignal() {});
  return {
    child,
    watcher: fs.watch('.', function onChange() {}),
    poller: fs.watchFile('truth.js', { interval: 3600000 }, function onPoll() {}),
    // Opening blocks until somebody writes, which nobody does.
    opening: fs.open('fifo', function onOpen() {}),
  };
}

const classes = (objects) => objects.map((object) => object.constructor.name).sort();

function tell(kept) {
  truth.tell({ handles: classes(process._getActiveHandles()) });
  truth.tell({ requests: classes(process._getActiveRequests()) });
  truth.tell({ resources: process.getActiveResourcesInfo?.().sort() });
  truth.tell({ port: { tcp: kept.tcp.address().port, udp: kept.udp.address().port } });
  for (const { call, delay, repeats, args, unref } of timers) {
    const told = args.map((value) => truth.describe(value));
    truth.tell({ timer: call.name, delay, repeats, referenced: !unref, args: told });
  }
  truth.thread('main', { frames: [], awaits: [] });
  truth.done();
}

async function main() {
  globalThis.kept = { timers: startTimers(), others: startOthers(), ...(await startServers()) };
  // The loop goes on waiting for a timer that is cleared, which must not be taken for the next one.
  const cleared = setTimeout(() => {}, 60000);
  // The loop must have gone round once with all of them.
  setTimeout(() => {
    clearTimeout(cleared);
    tell(globalThis.kept);
  }, 100);
}

main();
