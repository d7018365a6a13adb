package qmgrd.e2e;

import com.ibm.mq.MQException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import javax.jms.JMSException;
import javax.jms.JMSRuntimeException;
import javax.jms.Message;
import javax.jms.TextMessage;

/** Runs named checks, prints a line for each, and counts failures; and the comparisons that checks are made of. */
final class Checks {
    /** One act of an application. */
    interface Act {
        void run() throws Exception;
    }

    private final Set<String> only;
    private final Act before;
    private int failed;

    /** The arguments from the sixth on name the checks that run: all when there are none. before runs before each. */
    Checks(String[] args, Act before) {
        only = Set.copyOf(List.of(args).subList(Math.min(Target.ARGUMENTS, args.length), args.length));
        this.before = before;
    }

    Checks(String[] args) {
        this(args, () -> { });
    }

    void check(String name, Act act) {
        if (!only.isEmpty() && !only.contains(name)) {
            return;
        }
        long start = System.nanoTime();
        try {
            before.run();
            act.run();
            System.out.printf("ok   %s (%.1f s)%n", name, (System.nanoTime() - start) / 1e9);
        } catch (Exception | AssertionError e) {
            failed++;
            System.out.println("FAIL " + name + ": " + e);
            e.printStackTrace(System.out);
        }
    }

    /** Ends the program; the exit code is the number of failures. */
    void exit() {
        System.exit(Math.min(failed, 100));
    }

    static void same(Object want, Object got) {
        if (want == null ? got != null : !want.equals(got)) {
            throw new AssertionError("want " + want + ", got " + got);
        }
    }

    static void same(String what, Object want, Object got) {
        if (want == null ? got != null : !want.equals(got)) {
            throw new AssertionError(what + ": want " + want + ", got " + got);
        }
    }

    static void isTrue(String what, boolean ok) {
        if (!ok) {
            throw new AssertionError("not so: " + what);
        }
    }

    /** m is a TextMessage that says want. */
    static Message text(String want, Message m) throws Exception {
        isTrue("a message came, with " + want, m != null);
        same(want, ((TextMessage) m).getText());
        return m;
    }

    static String body(Message m) {
        try {
            return ((TextMessage) m).getText();
        } catch (Exception e) {
            return e.toString();
        }
    }

    /** The act fails with this reason code, in base classes or as the cause of what JMS throws. */
    static void reason(int want, Act act) throws Exception {
        reason(want, Exception.class, act);
    }

    /** As above, and the exception is of that class. */
    static void reason(int want, Class<? extends Exception> type, Act act) throws Exception {
        try {
            act.run();
        } catch (MQException | JMSException | JMSRuntimeException e) {
            if (reasonOf(e) != want || !type.isInstance(e)) {
                throw new AssertionError("want " + type.getName() + ", reason " + want + ", got reason " + reasonOf(e), e);
            }
            return;
        }
        throw new AssertionError("no exception, want reason " + want);
    }

    /** The first reason code among an exception and its causes; -1 when there is none. */
    static int reasonOf(Throwable e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            if (t instanceof MQException) {
                return ((MQException) t).reasonCode;
            }
        }
        return -1;
    }

    /** The act throws something of that class. */
    static void throwsA(Class<? extends Throwable> want, Act act) throws Exception {
        try {
            act.run();
        } catch (Exception e) {
            if (!want.isInstance(e)) {
                throw new AssertionError("want " + want.getName(), e);
            }
            return;
        }
        throw new AssertionError("no exception, want " + want.getName());
    }

    /** A thread waits within a method, which is what it was started for; for a fifth of a second, since it also waits on its way there. */
    static void waits(Thread t, String method) throws InterruptedException {
        int[] seen = {0};
        soon(t + " waits in " + method, () -> {
            StackTraceElement[] at = t.getStackTrace();
            boolean there = at.length > 0 && at[0].isNativeMethod() // that of a socket, of a lock, or of a sleep
                    && Arrays.stream(at).anyMatch(f -> f.getMethodName().equals(method));
            seen[0] = there ? seen[0] + 1 : 0;
            return seen[0] > 10;
        });
    }

    /** Waits up to a minute until something is so: only what is broken takes that long, however slow the machine is. */
    static void soon(String what, BooleanSupplier so) throws InterruptedException {
        long end = System.nanoTime() + 60_000_000_000L;
        while (!so.getAsBoolean()) {
            isTrue(what, System.nanoTime() < end);
            Thread.sleep(20);
        }
    }
}
